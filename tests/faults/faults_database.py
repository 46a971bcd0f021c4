"""Faults of PostgreSQL itself: kills, stops, full disks, missing rights, exhausted connections, failovers, restores."""

import asyncio
import os
import shutil
import signal
import subprocess
import time

from clients import Connection, Targets
from cluster import Cluster, Occupant, Skipped, children
from faults_rights import until_ready_says
from proxy import Proxy
from run_of_fault import QUIET_S, fault
from server import NotStarted


@fault(is_unready=True)
async def kill_postmaster(run):
    """kill -9 of the postmaster; PostgreSQL is started again after 3 s."""
    cluster = run.cluster()
    await run.server(cluster.url())
    await run.play()
    run.begin()
    await asyncio.to_thread(cluster.kill)
    await asyncio.sleep(3)
    await asyncio.to_thread(cluster.start)
    run.end()


async def stop_postgres(run, mode):
    cluster = run.cluster()
    await run.server(cluster.url())
    await run.play()
    run.begin()
    await asyncio.to_thread(cluster.stop, mode)
    await asyncio.sleep(5)
    await asyncio.to_thread(cluster.start)
    run.end()


@fault(is_unready=True)
async def stop_fast(run):
    """`pg_ctl stop -m fast`, and a start after 5 s."""
    await stop_postgres(run, "fast")


@fault(is_unready=True)
async def stop_immediate(run):
    """`pg_ctl stop -m immediate`, and a start after 5 s."""
    await stop_postgres(run, "immediate")


@fault(is_unready=True)
async def frozen_backends(run):
    """SIGSTOP of the postmaster and all its processes for 10 s."""
    cluster = run.cluster()
    await run.server(cluster.url())
    await run.play()
    postmaster = cluster.postmaster()
    run.begin()
    frozen = [postmaster, *children(postmaster)]
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    await asyncio.sleep(10)
    for pid in frozen:
        os.kill(pid, signal.SIGCONT)
    run.end()


@fault()
async def terminated_backends(run):
    """`pg_terminate_backend` of all connections of the server, every 0.3 s for 6 s."""
    cluster = run.cluster()
    await run.server(cluster.url())
    await run.play()
    run.begin()
    for _ in range(20):
        await cluster.asql(TERMINATE, database="postgres")
        await asyncio.sleep(0.3)
    run.end()


TERMINATE = "select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = 'mancala'"


@fault(is_unready=True)
async def read_only(run):
    """`default_transaction_read_only` is on for 5 s."""
    cluster = run.cluster()
    await run.server(cluster.url())
    await run.play()
    run.begin()
    await set_read_only(cluster, "on")
    await asyncio.sleep(5)
    await set_read_only(cluster, "off")
    run.end()


async def set_read_only(cluster, value):
    await cluster.asql(f"alter system set default_transaction_read_only = {value}", database="postgres")
    await cluster.asql("select pg_reload_conf()", database="postgres")


@fault(is_unready=True)
async def missing_rights(run):
    """The server's role may not insert events for 5 s."""
    cluster = run.cluster()
    await run.server(cluster.url())
    await run.play()
    run.begin()
    await cluster.asql("revoke insert on event from mancala")
    await asyncio.sleep(5)
    await cluster.asql("grant insert on event to mancala")
    run.end()


# PostgreSQL panics where its log cannot grow, and starts again by itself once it can.
@fault(bound_s=30, is_unready=True)
async def full_disk(run):
    """The cluster's disk (a tmpfs) is full for 8 s."""
    if os.geteuid() != 0:
        raise Skipped("mounting a tmpfs needs root")
    disk = os.path.join(run.folder, "disk")
    os.mkdir(disk)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200m,mode=777", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        raise Skipped(f"no tmpfs: {mounted.stderr.decode().strip()}")
    run.undo.append(lambda: subprocess.run(["umount", "-l", disk], check=False))
    cluster = run.cluster("disk/pg")
    await run.server(cluster.url())
    await run.play()
    run.begin()
    filler = os.path.join(disk, "filler")
    end = time.monotonic() + 8
    with open(filler, "wb", buffering=0) as file:
        while time.monotonic() < end:
            try:
                file.write(b"\0" * 4096)
            except OSError:
                await asyncio.sleep(0.05)
    os.unlink(filler)
    try:
        # A panic at the wrong moment ends the postmaster too.
        await cluster.asql("select 1", database="postgres")
    except RuntimeError:
        await asyncio.sleep(2)
        if not os.path.exists(os.path.join(cluster.data, "postmaster.pid")):
            await asyncio.to_thread(cluster.start)
    run.end()


# Not `is_unready`: the server may hold the connections that moves need.
@fault(bound_s=20)
async def exhausted_connections(run):
    """A superuser takes all connections while the server's are cut, and holds them for 8 s."""
    cluster = run.cluster(options=["max_connections=80"])
    await run.server(cluster.url())
    await run.play()
    run.begin()
    taken, end, cut_at = [], time.monotonic() + 8, 0
    while time.monotonic() < end:
        try:
            taken.append(await asyncio.to_thread(Occupant, cluster.port))
        except (OSError, ConnectionError):
            # All are taken. Half of what the server has is cut, and taken too.
            if cut_at < 2 and taken:
                cut_at += 1
                await asyncio.to_thread(cut_by_signal, cluster)
            await asyncio.sleep(0.01)
    run.notes.append(f"connections taken: {len(taken)} of 80")
    for each in taken:
        each.close()
    run.end()


def cut_by_signal(cluster):
    """Ends the server's connections without a connection of one's own."""
    for pid in children(cluster.postmaster()):
        with open(f"/proc/{pid}/cmdline") as line:
            if line.read().startswith("postgres: mancala mancala"):
                os.kill(pid, signal.SIGTERM)


def standby_of(run, primary):
    """A streaming standby. The primary waits for it, so a promotion loses nothing that was acknowledged."""
    standby = Cluster(run.folder, "standby")
    run.clusters.append(standby)
    primary.program("pg_basebackup", "-D", standby.data, "-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres",
                    "-R", "-X", "stream", "-c", "fast")
    standby.start()
    return standby


async def primary_and_standby(run):
    primary = await asyncio.to_thread(run.cluster)
    standby = await asyncio.to_thread(standby_of, run, primary)
    # Given to the running primary only, so that the promoted standby does not wait for a standby of its own.
    primary.options.append("synchronous_standby_names=*")
    await asyncio.to_thread(primary.stop)
    await asyncio.to_thread(primary.start)
    return primary, standby


@fault(is_unready=True)
async def failover_behind_an_address(run):
    """kill -9 of the primary; the address leads to the standby, which is promoted 3 s later."""
    primary, standby = await primary_and_standby(run)
    proxy = await Proxy(primary.port).start()
    run.undo.append(proxy.stop)
    await run.server(primary.url(proxy.port))
    await run.play()
    run.begin()
    await asyncio.to_thread(primary.kill)
    proxy.target = standby.port
    await asyncio.sleep(3)
    await asyncio.to_thread(standby.program, "pg_ctl", "promote", "-w", "-D", standby.data)
    run.end()


@fault(is_unready=True)
async def failover_with_two_hosts(run):
    """kill -9 of the primary and promotion of the standby; DATABASE_URL names both hosts."""
    primary, standby = await primary_and_standby(run)
    url = f"postgres://mancala@127.0.0.1:{primary.port},127.0.0.1:{standby.port}/mancala?target_session_attrs=read-write"
    await run.server(url)
    await run.play()
    run.begin()
    await asyncio.to_thread(primary.kill)
    # Longer than any wait for a connection, and the former host never comes back.
    await asyncio.sleep(15)
    await asyncio.to_thread(standby.program, "pg_ctl", "promote", "-w", "-D", standby.data)
    run.end()


@fault(bound_s=20, is_unready=True)
async def synchronous_standby_away(run):
    """The only synchronous standby is stopped for 12 s: nothing is stored, and /readyz says why."""
    primary, standby = await primary_and_standby(run)
    server = await run.server(primary.url())
    await run.play()
    run.begin()
    await asyncio.to_thread(standby.stop)
    await until_ready_says(run, server, 503, "synchronous_standby", within_s=10)
    await asyncio.sleep(2)
    await asyncio.to_thread(standby.start)
    run.end()


class SetBackGame:
    """A game that reaches the same version twice with different moves: before the restore, and after it through another server."""

    def __init__(self, run):
        self.run, self.game, self.token = run, None, None

    async def call(self, server, method, path, body):
        own = Connection(Targets(server.base))
        answered = await self.run.load.insist("set back", own, method, path, self.token, body)
        # Whether the load has recovered is for its own clients to say.
        self.run.load.succeeded.pop("set back", None)
        own.close()
        return answered

    async def create(self):
        server = self.run.servers[0]
        self.token = (await self.call(server, "POST", "/v1/players", {}))[1]["access_token"]
        self.game = (await self.call(server, "POST", "/v1/games", {"variant": "oware", "opponent": {"type": "self"}}))[1]
        self.run.load.tokens[self.game["id"]] = self.token
        await self.play(server, 1, 0)

    async def play(self, server, ply, choice):
        """Plays one of the moves that were legal after ply 1."""
        path = f"/v1/games/{self.game['id']}/moves"
        move = self.game["legal_moves"][choice]
        status, body, sent = await self.call(server, "POST", path, {"ply": ply, "move": move})
        if status != 201:
            self.run.problems.append(f"ply {ply} of the game set back: {status} {body.get('code')}")
            return
        self.run.load.ledger[(self.game["id"], ply)] = (move, sent, time.monotonic())
        if ply == 1:
            self.game = body["game"]


@fault(bound_s=20)
async def restored_in_place(run):
    """The database is replaced by an earlier state of it under the running server."""
    cluster = run.cluster()
    await run.server(cluster.url())
    await run.play()
    probe = SetBackGame(run)
    await probe.create()
    backup_at = time.monotonic()
    dump = os.path.join(run.folder, "dump")
    await asyncio.to_thread(cluster.program, "pg_dump", "-h", "127.0.0.1", "-p", str(cluster.port), "-U", "postgres", "-Fc",
                            "-f", dump, "mancala")
    await cluster.asql("create database restored owner mancala", database="postgres")
    await asyncio.to_thread(cluster.program, "pg_restore", "-h", "127.0.0.1", "-p", str(cluster.port), "-U", "postgres",
                            "-d", "restored", dump)
    await probe.play(run.servers[0], 2, 0)
    await asyncio.sleep(QUIET_S)
    run.begin()
    for statement in ("alter database mancala allow_connections false", TERMINATE, "alter database mancala rename to old",
                      "alter database restored rename to mancala"):
        await cluster.asql(statement, database="postgres")
    restored_at = time.monotonic()
    # What was acknowledged between the backup and the restore is gone, as the operator has decided.
    run.counts = lambda sent, acknowledged: acknowledged < backup_at or sent > restored_at
    run.end()
    await asyncio.sleep(QUIET_S)
    # A second server has no memory of what was. Both have to say the same.
    fresh = await run.server(cluster.url())
    await probe.play(fresh, 2, 1)
    run.compared = fresh


# Games of the lost hours are not there; tokens of players who are not there are void.
restored_in_place.allowed = ("404 not_found", "401 invalid_token", "403 not_seated")


@fault(bound_s=30)
async def database_later_than_server(run):
    """The server is started while PostgreSQL is down, which comes 5 s later."""
    cluster = run.cluster()
    server = await run.server(cluster.url())
    await run.play()
    run.begin()
    await asyncio.to_thread(cluster.stop)
    await server.stop()
    starting = asyncio.ensure_future(server.start())
    await asyncio.sleep(5)
    await asyncio.to_thread(cluster.start)
    try:
        await starting
    except NotStarted as why:
        run.problems.append(f"the server gave up: {why}")
        await server.start()
    run.end()
