"""A PostgreSQL cluster of a fault run: made by initdb, with its data in the run's folder, reached over loopback."""

import asyncio
import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import time

SUPERUSER = "postgres"
START_S = 60


class Skipped(Exception):
    """The run cannot be done here; the text says why."""


def programs():
    """The folder of PostgreSQL's programs."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    folder = os.environ.get("PG_BIN") or (found[-1] if found else None)
    if folder is None:
        path = shutil.which("initdb")
        if path is None:
            raise Skipped("no programs of PostgreSQL")
        folder = os.path.dirname(os.path.realpath(path))
    return folder


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def as_postgres():
    """How to start a process that must not run as root."""
    if os.geteuid() != 0:
        return {}
    try:
        user = pwd.getpwnam(SUPERUSER)
    except KeyError as error:
        raise Skipped("no user postgres, and PostgreSQL refuses root") from error
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def children(pid):
    """The processes that a process has started."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(path.split("/")[2]))
    return found


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Cluster:
    """One cluster; `options` are settings of its postmaster."""

    def __init__(self, folder, name="pg", options=()):
        self.folder, self.data, self.port = folder, os.path.join(folder, name), free_port()
        self.options, self.log = list(options), os.path.join(folder, f"{name}.log")
        self.bin = programs()

    def program(self, name, *arguments, check=True):
        command = [os.path.join(self.bin, name), *arguments]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=120, **as_postgres())
        if check and done.returncode:
            raise RuntimeError(f"{name}: {done.stderr.strip() or done.stdout.strip()}")
        return done

    def create(self):
        """Makes the cluster, starts it, and makes the database and its owner."""
        self.program("initdb", "-D", self.data, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                     "--wal-segsize=1", "--no-sync")
        self.start()
        self.sql("create role mancala login", database="postgres")
        self.sql("create database mancala owner mancala", database="postgres")
        return self

    def start(self):
        """Starts the postmaster. After a kill its children may take a moment to end; until then it refuses."""
        settings = [f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}",
                    "min_wal_size=8MB", "max_wal_size=64MB", *self.options]
        options = " ".join(f"-c '{setting}'" for setting in settings)
        end = time.monotonic() + START_S
        while True:
            done = self.program("pg_ctl", "start", "-w", "-D", self.data, "-l", self.log, "-o", options, check=False)
            if done.returncode == 0:
                return
            if time.monotonic() > end:
                with open(self.log) as log:
                    raise RuntimeError(f"PostgreSQL does not start: {log.read()[-800:]}")
            time.sleep(0.2)

    def stop(self, mode="fast"):
        self.program("pg_ctl", "stop", "-w", "-m", mode, "-D", self.data)

    def postmaster(self):
        with open(os.path.join(self.data, "postmaster.pid")) as file:
            return int(file.readline())

    def kill(self):
        """kill -9 of the postmaster, and waits until its children have noticed."""
        pid = self.postmaster()
        backends = children(pid)
        os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + START_S
        while any(is_alive(backend) for backend in [pid, *backends]) and time.monotonic() < end:
            time.sleep(0.05)

    def destroy(self):
        """Ends all of it."""
        try:
            pid = self.postmaster()
        except OSError:
            return
        if is_alive(pid):
            for child in [pid, *children(pid)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGCONT)
            self.program("pg_ctl", "stop", "-w", "-m", "immediate", "-D", self.data, check=False)

    def sql(self, statement, database="mancala", user=SUPERUSER):
        """What a statement answers, as psql prints it."""
        done = subprocess.run(
            [os.path.join(self.bin, "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1",
             "-p", str(self.port), "-U", user, "-d", database, "-c", statement],
            capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise RuntimeError(f"{statement}: {done.stderr.strip()}")
        return done.stdout.strip()

    async def asql(self, statement, **options):
        return await asyncio.to_thread(self.sql, statement, **options)

    def url(self, port=None, user="mancala"):
        return f"postgres://{user}@127.0.0.1:{port or self.port}/mancala"


class Occupant:
    """One connection to PostgreSQL that does nothing; opened by the protocol itself, because thousands of psql are too many."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        words = b"".join(word.encode() + b"\0" for word in ("user", SUPERUSER, "database", "postgres")) + b"\0"
        self.socket.sendall(struct.pack("!ii", len(words) + 8, 196608) + words)
        answer = b""
        while True:
            read = self.socket.recv(4096)
            answer += read
            # ReadyForQuery, or an error that closes the connection.
            if answer.endswith(b"Z\0\0\0\5I"):
                return
            if not read or answer[:1] == b"E":
                self.close()
                raise ConnectionError("refused")

    def close(self):
        self.socket.close()
