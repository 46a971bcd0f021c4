"""Faults of a PostgreSQL of three nodes under Patroni: deploy/patroni, with its configuration as it stands there.

Two servers stand behind haproxy and reach the primary through haproxy; the second one reads at the synchronous standby. A third server knows the
three nodes by itself (several hosts in DATABASE_URL). Beside the clients that play, others follow streams and read.

Patroni's times are short here. PATRONI_TIMES=production leaves them as deploy/patroni/patroni.yml has them.
"""

import asyncio
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

from clients import Connection, Targets
from cluster import Skipped
from proxy import Proxy
from run_of_fault import fault
from watchers import Follower, Reader, boards_of

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy", "patroni"))
import trial as patroni  # noqa: E402

SHORT = {"ttl": 10, "loop_wait": 2, "retry_timeout": 3}
IS_SHORT = os.environ.get("PATRONI_TIMES") != "production"
TTL_S = SHORT["ttl"] if IS_SHORT else 30
# How long moves may fail: the lease of the primary, a round of Patroni, the promotion, and what haproxy and the servers need to see it.
OUTAGE_S = TTL_S + 20
# How long a node may need to find its place again: to end, to be wound back, to start, and to be named synchronous.
BACK_S = 60 if IS_SHORT else 120
PLAY_S = 5
# How long the next standby may take to know its timeline by itself.
WAIT_S = 15
# Failures with less than this between them are one outage.
PAUSE_S = 3


def free_ports(count):
    """Ports below those that connections take by themselves."""
    found = []
    while len(found) < count:
        port = random.randrange(15000, 32000)
        with socket.socket() as taken:
            try:
                taken.bind(("127.0.0.1", port))
                found += [port] if port not in found else []
            except OSError:
                pass
    return found


class Nodes:
    """The cluster of a run, with what watches it."""

    def __init__(self, run):
        if words := patroni.missing():
            raise Skipped(words)
        self.run, self.relays, self.metrics = run, [], None
        self.ports = dict(zip(patroni.PORTS, free_ports(len(patroni.PORTS)), strict=True))

    async def start(self, **settings):
        """Starts everything, and lets clients play. `settings` are those of Patroni's cluster."""
        run, ports = self.run, self.ports
        for number in patroni.NODES:
            self.relays.append(await Proxy(ports[f"ETCD{number}"]).start())
            run.undo.append(self.relays[-1].stop)
        self.trial = patroni.Trial(run.folder, ports, [relay.port for relay in self.relays])
        run.undo.append(self.trial.stop)
        await asyncio.to_thread(self.trial.start, (SHORT if IS_SHORT else {}) | settings)
        await self.start_servers()
        api = Targets(urlsplit(f"http://127.0.0.1:{ports['API']}"))
        await wait(lambda: answers(ports["API"], "/readyz"), "haproxy finds no server", 30)
        await run.play(api)
        run.load.start(Targets(run.servers[2].base), selfs=2, pairs=0)
        bases = [server.base for server in run.servers]
        watchers = [Follower(run.load, *bases), Follower(run.load, *bases), *(Reader(run.load, base) for base in bases)]
        run.undo += [watcher.task.cancel for watcher in watchers]
        run.checks += [watcher.check for watcher in watchers] + [lambda: boards_of(run.load, bases)]
        run.compared = run.servers[1]
        await asyncio.sleep(PLAY_S)
        self.follower, self.reader = watchers[0], watchers[3]
        return self

    async def start_servers(self):
        url, self.metrics = self.trial.url(), free_ports(1)[0]
        hosts = ",".join(f"127.0.0.1:{self.ports[f'PG{number}']}" for number in patroni.NODES)
        direct = f"{url.split('@')[0]}@{hosts}/mancala?target_session_attrs=read-write"
        reads = {"READ_DATABASE_URL": self.trial.url("STANDBY"), "METRICS_LISTEN": f"127.0.0.1:{self.metrics}"}
        for name, address, variables in (("A", url, {}), ("B", url, reads), (None, direct, {})):
            listen = f"127.0.0.1:{self.ports[f'SERVER_{name}'] if name else 0}"
            await self.run.server(address, listen=listen, variables={"TRUSTED_PROXIES": "127.0.0.0/8"} | variables)

    async def node(self, role):
        """The node in a role: `primary` or `sync`."""
        await wait(lambda: self.trial.nodes(role), f"no {role}", OUTAGE_S)
        return self.trial.nodes(role)[0]

    async def new_primary(self, former):
        """Waits until another node is the primary."""
        await wait(lambda: self.trial.nodes("primary") not in ([], [former]), "no new primary", OUTAGE_S)

    async def whole(self):
        """Waits until all nodes are in their places again, as each of them says itself."""
        def is_whole():
            return [len(self.trial.nodes(role)) for role in ("primary", "replica", "sync")] == [1, 2, 1]

        await wait(is_whole, "the node does not come back", BACK_S)

    async def standby_reads(self):
        """How many reads the standby and the primary have answered for the second server."""
        own = Connection(Targets(urlsplit(f"http://127.0.0.1:{self.metrics}")))
        _, _, body = await own.call("GET", "/metrics")
        own.close()
        found = dict(re.findall(r'mancala_standby_reads_total\{by="(\w+)"\} (\d+)', body.decode()))
        return int(found.get("standby", 0)), int(found.get("primary", 0))

    async def served(self):
        """Waits until clients play again, and says how long they could not; then lets them play on."""
        run = self.run
        run.end()
        run.bound_s = OUTAGE_S
        if await run.recovery() is None:
            run.problems.append("clients are not served again")
        await asyncio.sleep(PLAY_S)
        outage = sum(end - begin for begin, end in spans(run.load.unavailable))
        gap = longest_gap(run.load.ledger, run.begun_at)
        run.notes.append(f"503 for {outage:.1f} s ({len(run.load.unavailable)} answers); no move acknowledged for {gap:.1f} s")
        if gap > OUTAGE_S:
            run.problems.append(f"no move for {gap:.1f} s, bound {OUTAGE_S} s")

    def close(self):
        """Notes what the watchers saw."""
        self.run.notes.append(f"a follower's streams {dict(self.follower.seen)}, reads at the second server {dict(self.reader.seen)}")
        self.run.end()


async def wait(condition, otherwise, seconds):
    end = time.monotonic() + seconds
    while not await asyncio.to_thread(condition):
        if time.monotonic() > end:
            raise RuntimeError(f"{otherwise} after {seconds} s")
        await asyncio.sleep(0.1)


def answers(port, path):
    return patroni.get(port, path, password=None) is not None


def spans(moments):
    """The begins and ends of outages."""
    found = []
    for moment in sorted(moments):
        if found and moment - found[-1][1] < PAUSE_S:
            found[-1][1] = moment
        else:
            found.append([moment, moment])
    return found


def longest_gap(ledger, since):
    moments = [*sorted(at for *_, at in ledger.values() if at > since - 1), time.monotonic()]
    return max((later - earlier for earlier, later in zip(moments, moments[1:])), default=0.0)


@fault(is_unready=True)
async def patroni_kill(run):
    """Patroni: kill -9 of the primary's node (PostgreSQL and Patroni); it comes back later, and is wound back."""
    nodes = await Nodes(run).start()
    former, trial = await nodes.node("primary"), nodes.trial
    run.begin()
    trial.processes[f"patroni{former}"].kill()
    patroni.signal_family(trial.postmaster(former), signal.SIGKILL)
    await nodes.new_primary(former)
    await nodes.served()
    trial.start_node(former)
    await nodes.whole()
    nodes.close()


@fault()
async def patroni_standby_kill(run):
    """Patroni: kill -9 of the synchronous standby's node: moves wait until Patroni names another one; the node comes back later."""
    nodes = await Nodes(run).start()
    trial = nodes.trial
    standby = await nodes.node("sync")
    run.begin()
    trial.processes[f"patroni{standby}"].kill()
    patroni.signal_family(trial.postmaster(standby), signal.SIGKILL)
    await wait(lambda: trial.nodes("sync") not in ([], [standby]), "no other synchronous standby", OUTAGE_S)
    await nodes.served()
    trial.start_node(standby)
    await nodes.whole()
    nodes.close()


@fault(is_unready=True)
async def patroni_freeze(run):
    """Patroni: SIGSTOP of the primary's node; PostgreSQL wakes up before its Patroni, and must acknowledge nothing."""
    nodes = await Nodes(run).start()
    former, trial = await nodes.node("primary"), nodes.trial
    trial.sql("create table probe (id int)")
    postmaster, process = trial.postmaster(former), trial.processes[f"patroni{former}"]
    run.begin()
    process.send_signal(signal.SIGSTOP)
    patroni.signal_family(postmaster, signal.SIGSTOP)
    await nodes.new_primary(former)
    await nodes.served()
    patroni.signal_family(postmaster, signal.SIGCONT)
    # By its own port, past haproxy: it takes the row, and waits for a standby that does not come.
    state = await asyncio.to_thread(trial.sql, "select pg_is_in_recovery()", f"PG{former}")
    try:
        await asyncio.wait_for(asyncio.to_thread(insert, trial, former), 10)
        run.problems.append("a primary that woke up has acknowledged a commit")
    except subprocess.TimeoutExpired:
        run.notes.append(f"a commit at the primary that woke up (in recovery: {state}) waited for 5 s, without an answer")
    process.send_signal(signal.SIGCONT)
    await nodes.whole()
    if rows := await asyncio.to_thread(trial.sql, "select count(*) from probe"):
        run.problems += [f"{rows} rows of the primary that woke up are there"] if rows != "0" else []
    nodes.close()


def insert(trial, number):
    command = [os.path.join(trial.bin, "psql"), "-XqAt", "-h", "127.0.0.1", "-p", str(trial.ports[f"PG{number}"]), "-U", "postgres",
               "-d", "postgres", "-c", "insert into probe values (1)"]
    subprocess.run(command, env={"PGPASSWORD": "change-me-1"}, timeout=5, check=True, capture_output=True)


async def cut_off(nodes, number):
    relay = nodes.relays[number - 1]
    relay.refuses = True
    relay.cut()
    return relay


@fault(is_unready=True)
async def patroni_freeze_postgres(run):
    """Patroni: SIGSTOP of the primary's PostgreSQL alone, while its Patroni runs."""
    nodes = await Nodes(run).start()
    former, trial = await nodes.node("primary"), nodes.trial
    postmaster = trial.postmaster(former)
    run.begin()
    patroni.signal_family(postmaster, signal.SIGSTOP)
    await nodes.new_primary(former)
    await nodes.served()
    patroni.signal_family(postmaster, signal.SIGCONT)
    await nodes.whole()
    nodes.close()


@fault(is_unready=True)
async def patroni_cut_off(run):
    """Patroni without failsafe_mode: the primary's node is cut off from etcd, gives up, and another one takes over."""
    nodes = await Nodes(run).start(failsafe_mode=False)
    former = await nodes.node("primary")
    run.begin()
    relay = await cut_off(nodes, former)
    await nodes.new_primary(former)
    await nodes.served()
    relay.refuses = False
    await nodes.whole()
    nodes.close()


@fault()
async def patroni_failsafe(run):
    """Patroni: the primary's node is cut off from etcd, but reaches the other nodes: it stays, and no call fails."""
    nodes = await Nodes(run).start()
    former = await nodes.node("primary")
    run.begin()
    relay = await cut_off(nodes, former)
    await asyncio.sleep(2 * TTL_S)
    relay.refuses = False
    await nodes.whole()
    if await nodes.node("primary") != former:
        run.problems.append("another node took over")
    await nodes.served()
    nodes.close()


patroni_failsafe.is_seamless = True


@fault()
async def patroni_switchover(run):
    """Patroni: `patronictl switchover` to the synchronous standby, where a server reads; it reads at the next one then."""
    nodes = await Nodes(run).start()
    trial, former = nodes.trial, await nodes.node("primary")
    candidate = await nodes.node("sync")
    before = await nodes.standby_reads()
    run.begin()
    done = await asyncio.to_thread(trial.patronictl, "switchover", "mancala", "--leader", f"pg{former}", "--candidate", f"pg{candidate}",
                                   "--force")
    if done.returncode:
        run.problems.append(f"patronictl: {(done.stdout + done.stderr)[-300:]}")
    await nodes.new_primary(former)
    await nodes.served()
    await nodes.whole()
    promoted = time.monotonic()
    after, is_helped = await nodes.standby_reads(), False
    while (now := await nodes.standby_reads())[0] == after[0]:
        if time.monotonic() - promoted > WAIT_S and not is_helped:
            is_helped = True
            await asyncio.to_thread(trial.sql, "checkpoint", f"PG{await nodes.node('sync')}")
        elif time.monotonic() - promoted > 2 * WAIT_S:
            run.problems.append("the standby answers no reads any more")
            break
        await asyncio.sleep(0.5)
    took, how = time.monotonic() - run.begun_at, "after `checkpoint` there" if is_helped else "by itself"
    run.notes.append(f"reads by standby, primary: {before} before, {now} at the end; the next standby answers after {took:.0f} s, {how}")
    if not before[0]:
        run.problems.append("the standby answers no reads before")
    nodes.close()
