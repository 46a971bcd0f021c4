#!/usr/bin/env python3
"""Starts etcd, PostgreSQL under Patroni, and haproxy on loopback: three nodes on one machine, for a trial.

    deploy/patroni/trial.py [--server target/debug/mancala-server]

It runs until ^C, with two servers behind haproxy if --server names the binary. Then it ends all processes and deletes all files.
Debian's packages: patroni etcd-server haproxy postgresql. tests/faults/faults_patroni.py breaks such a cluster under load.
"""

import argparse
import base64
import contextlib
import glob
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGURATION = os.path.join(HERE, "patroni.yml")
PATH = os.environ.get("PATH", "") + ":/usr/sbin"
PROGRAMS = {"patroni": "patroni", "etcd": "etcd-server", "haproxy": "haproxy"}
NODES = (1, 2, 3)
READY_S = 90
# A frozen node does not answer.
REST_S = 3
# Of patroni.yml.
REST_PASSWORD = "patroni:change-me-5"
# The ports of haproxy.cfg and patroni.yml.
PORTS = {"API": 8000, "PRIMARY": 5000, "STANDBY": 5001, "SERVER_A": 8080, "SERVER_B": 8081, "PG1": 5433, "PG2": 5434, "PG3": 5435,
         "REST1": 8008, "REST2": 8009, "REST3": 8010, "ETCD1": 2379, "ETCD2": 2381, "ETCD3": 2383, "PEER1": 2380, "PEER2": 2382,
         "PEER3": 2384}


def missing():
    """What cannot be found here, in words; empty if all is there."""
    words = [f"no {name} (Debian: {package})" for name, package in PROGRAMS.items() if shutil.which(name, path=PATH) is None]
    return ", ".join(words + ([] if glob.glob("/usr/lib/postgresql/*/bin") else ["no PostgreSQL (Debian: postgresql)"]))


def driver():
    """How Patroni speaks to etcd. Before 3.1 `etcd3` takes the lease back from the next primary when a frozen one wakes up."""
    said = subprocess.run(["patroni", "--version"], capture_output=True, text=True, check=True, env={"PATH": PATH}).stdout
    return "ETCD3" if tuple(int(word) for word in said.split()[-1].split(".")[:2]) >= (3, 1) else "ETCD"


def unprivileged():
    """PostgreSQL refuses root: all processes run as the user postgres then."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Trial:
    """The processes of a trial. `ports` may name others than PORTS; `etcd_seen` the ports by which each node reaches etcd."""

    def __init__(self, folder, ports=None, etcd_seen=None):
        self.folder, self.ports, self.etcd_seen = folder, PORTS | (ports or {}), etcd_seen
        self.bin = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))[-1]
        self.processes, self.driver, self.is_stopped = {}, driver(), False
        if unprivileged():
            shutil.chown(folder, "postgres", "postgres")

    def start(self, settings=None):
        """Starts all but the servers, and waits for a primary and two standbys. `settings` of the cluster override patroni.yml."""
        for number in NODES:
            self.start_etcd(number)
        for number in NODES:
            self.wait(lambda: "3." in str((get(self.ports[f"ETCD{number}"], "/version") or {}).get("etcdcluster")), "no etcd")
            self.start_node(number)
        self.wait(lambda: len(self.nodes("replica")) == 2, "no two standbys")
        if self.rest(self.nodes("primary")[0], "/config", {"ttl": 20}, "PATCH", "patroni:wrong"):
            raise RuntimeError("Patroni takes settings without its password")
        if settings:
            self.configure(**settings)
        self.wait(lambda: self.nodes("sync"), "no synchronous standby")
        # Not through haproxy, which takes every node for the primary until its first check.
        primary = f"PG{self.nodes('primary')[0]}"
        self.sql("create role mancala login password 'change-me-4'", primary)
        self.sql("create database mancala owner mancala", primary)
        variables = {f"{name}_PORT": str(port) for name, port in self.ports.items()}
        self.run("haproxy", ["haproxy", "-db", "-f", os.path.join(HERE, "haproxy.cfg")], variables)
        # Until then a connection may reach any node, and find no database yet.
        self.wait(lambda: len(self.found_down()) >= 4, "haproxy finds no primary and no synchronous standby")

    def found_down(self):
        """The nodes that haproxy has found not to be the primary, or not the synchronous standby: two each."""
        with open(os.path.join(self.folder, "haproxy.log")) as log:
            return set(re.findall(r"Server ((?:primary|standby)/pg\d) is DOWN", log.read()))

    def start_etcd(self, number):
        def url(name):
            return f"http://127.0.0.1:{self.ports[name]}"

        cluster = ",".join(f"etcd{each}={url(f'PEER{each}')}" for each in NODES)
        # Patroni's driver for version 2 of etcd's interface needs it.
        old = ["--enable-v2"] if self.driver == "ETCD" else []
        self.run(f"etcd{number}", [
            "etcd", *old, "--name", f"etcd{number}", "--data-dir", os.path.join(self.folder, f"etcd{number}"), "--initial-cluster", cluster,
            "--listen-client-urls", url(f"ETCD{number}"), "--advertise-client-urls", url(f"ETCD{number}"),
            "--listen-peer-urls", url(f"PEER{number}"), "--initial-advertise-peer-urls", url(f"PEER{number}")])

    def start_node(self, number):
        """Starts Patroni of a node, which starts its PostgreSQL."""
        rest, postgres = (f"127.0.0.1:{self.ports[name + str(number)]}" for name in ("REST", "PG"))
        seen = [self.etcd_seen[number - 1]] if self.etcd_seen else [self.ports[f"ETCD{each}"] for each in NODES]
        self.run(f"patroni{number}", ["patroni", CONFIGURATION], {
            "PATRONI_NAME": f"pg{number}", "PATRONI_RESTAPI_LISTEN": rest, "PATRONI_RESTAPI_CONNECT_ADDRESS": rest,
            "PATRONI_POSTGRESQL_LISTEN": postgres, "PATRONI_POSTGRESQL_CONNECT_ADDRESS": postgres,
            "PATRONI_POSTGRESQL_DATA_DIR": self.data(number), "PATRONI_POSTGRESQL_BIN_DIR": self.bin,
            "PATRONI_POSTGRESQL_PGPASS": os.path.join(self.folder, f"pgpass{number}"),
            # Patroni asks etcd for its members and their addresses, unless it is told to keep to these.
            f"PATRONI_{self.driver}_HOSTS": ",".join(f"127.0.0.1:{port}" for port in seen), f"PATRONI_{self.driver}_USE_PROXIES": "true"})

    def run(self, name, command, variables=None):
        assert not self.is_stopped, "stopped"
        environment = {"PATH": PATH, "HOME": self.folder, "LC_ALL": "C.UTF-8"} | (variables or {})
        with open(os.path.join(self.folder, f"{name}.log"), "ab") as log:
            self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder,
                                                    env=environment, start_new_session=True, **unprivileged())

    def data(self, number):
        return os.path.join(self.folder, f"pg{number}")

    def postmaster(self, number):
        """The process of a node's PostgreSQL, or None if there is none."""
        with contextlib.suppress(OSError, ValueError), open(os.path.join(self.data(number), "postmaster.pid")) as file:
            pid = int(file.readline())
            with open(f"/proc/{pid}/cmdline") as line:
                return pid if self.data(number) in line.read() else None
        return None

    def rest(self, number, path, *arguments):
        return get(self.ports[f"REST{number}"], path, *arguments)

    def nodes(self, role):
        """The nodes that say they are `primary`, `replica` or `sync` (the synchronous standby): what haproxy asks them, too."""
        return [number for number in NODES if self.rest(number, f"/{role}") is not None]

    def configure(self, **settings):
        """Changes settings of the cluster, as patronictl edit-config does."""
        assert self.rest(self.nodes("primary")[0], "/config", settings, "PATCH"), "the settings are not taken"

    def patronictl(self, *arguments):
        hosts = ",".join(f"127.0.0.1:{self.ports[f'ETCD{number}']}" for number in NODES)
        return subprocess.run(["patronictl", "-c", CONFIGURATION, *arguments], capture_output=True, text=True, timeout=60, check=False,
                              env={"PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": self.folder, f"PATRONI_{self.driver}_HOSTS": hosts})

    def sql(self, statement, port="PRIMARY", database="postgres"):
        """What a statement of the superuser answers, by default at the primary."""
        command = [os.path.join(self.bin, "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.ports[port]),
                   "-U", "postgres", "-d", database, "-c", statement]
        for _ in range(20):
            done = subprocess.run(command, capture_output=True, text=True, env={"PGPASSWORD": "change-me-1"}, timeout=60, check=False)
            if done.returncode != 2:
                break
            time.sleep(1)  # No connection: haproxy has not found the primary yet.
        if done.returncode:
            raise RuntimeError(f"{statement}: {done.stderr.strip()}")
        return done.stdout.strip()

    def wait(self, condition, otherwise):
        end = time.monotonic() + READY_S
        while not condition():
            if self.is_stopped or time.monotonic() > end:
                raise RuntimeError("stopped" if self.is_stopped else f"{otherwise} after {READY_S} s")
            time.sleep(0.2)

    def url(self, port="PRIMARY"):
        return f"postgres://mancala:change-me-4@127.0.0.1:{self.ports[port]}/mancala"

    def stop(self):
        """Ends all processes, those that are frozen too. Nothing of the trial is kept, so nothing is shut down in good order."""
        self.is_stopped = True
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for number in NODES:
            if pid := self.postmaster(number):
                signal_family(pid, signal.SIGCONT)
                subprocess.run([os.path.join(self.bin, "pg_ctl"), "stop", "-m", "immediate", "-w", "-D", self.data(number)], cwd="/",
                               capture_output=True, timeout=90, check=False, **unprivileged())


def get(port, path, data=None, method=None, password=REST_PASSWORD):
    """What a port answers; None if it does not answer, or refuses. Patroni asks for a password, and servers refuse any."""
    headers = {"Authorization": f"Basic {base64.b64encode(password.encode()).decode()}"} if password else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method, headers=headers,
                                     data=None if data is None else json.dumps(data).encode())
    try:
        with urllib.request.urlopen(request, timeout=REST_S) as answer:
            text = answer.read()
            return json.loads(text) if text[:1] == b"{" else text.decode()
    except OSError:
        return None


def signal_family(pid, number):
    """Signals a process and its children."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = [int(word) for word in file.read().split()]
        os.kill(pid, number)
        for child in children:
            with contextlib.suppress(OSError):
                os.kill(child, number)


def start_servers(trial, binary):
    """Two servers behind haproxy; the second one reads at the standby."""
    key = os.path.join(trial.folder, "jwt.pem")
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, capture_output=True)
    os.chmod(key, 0o600)
    if unprivileged():
        shutil.chown(key, "postgres", "postgres")
    program = shutil.copy(binary, os.path.join(trial.folder, "mancala-server"))
    for name, variables in (("A", {}), ("B", {"READ_DATABASE_URL": trial.url("STANDBY")})):
        listen = f"127.0.0.1:{trial.ports[f'SERVER_{name}']}"
        trial.run(f"server-{name}", [program, "--listen", listen], variables | {
            "DATABASE_URL": trial.url(), "JWT_PRIVATE_KEY_FILE": key, "TRUSTED_PROXIES": "127.0.0.0/8", "DRAIN_S": "6"})


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    options = argparse.ArgumentParser(description="A PostgreSQL of three nodes under Patroni on loopback, for a trial.")
    options.add_argument("--server", metavar="BINARY", help="start two servers too")
    given = options.parse_args()
    if words := missing():
        options.error(words)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    folder = tempfile.mkdtemp(prefix="mancala-patroni-", dir="/var/tmp")
    trial = Trial(folder)
    try:
        trial.start()
        if given.server:
            start_servers(trial, given.server)
            print(f"API        http://127.0.0.1:{trial.ports['API']}")
        print(f"primary    {trial.url()}\nstandby    {trial.url('STANDBY')}\nlogs       {folder}", flush=True)
        print(f"nodes      PATRONI_{trial.driver}_HOSTS=127.0.0.1:{trial.ports['ETCD1']} patronictl -c {CONFIGURATION} list", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        print("ending")
    finally:
        trial.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
