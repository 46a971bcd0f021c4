"""Connections to the database that moves need and do not get: to whom it is told, and how it ends."""

import asyncio
import json
import os
import subprocess
import time

from cluster import Skipped
from faults_pooler import pgbouncer
from faults_process import Ready
from faults_rights import ask, until_ready_says
from run_of_fault import fault

# A part without a connection is told after three seconds.
SETTLE_S = 5
LOOK_S = 1
# The keepalives find a dead machine within a minute, and PostgreSQL ends its sessions then.
DEAD_MACHINE_S = 80


def sessions_with(statement):
    """A condition for the sessions of the server whose last statement contains this."""
    return f"from pg_stat_activity where usename = 'serving' and query like '%{statement}%' and query not like '%pg_stat_activity%'"


async def without_slot(run, statement):
    """Ends the session that ran this statement last, and lets the role open no other one until /readyz has said so."""
    cluster = await asyncio.to_thread(run.cluster)
    await cluster.asql("create role serving login; grant mancala to serving", database="postgres")
    server = await run.server(cluster.url(user="serving"))
    await run.play()
    run.begin()
    await cluster.asql("alter role serving connection limit 0", database="postgres")
    ended = await cluster.asql(f"select count(pg_terminate_backend(pid)) {sessions_with(statement)}")
    begun = time.monotonic()
    await until_ready_says(run, server, 503, "connections", within_s=8)
    run.notes.append(f"sessions ended: {ended}; /readyz said so after {time.monotonic() - begun:.1f} s")
    await cluster.asql("alter role serving connection limit -1", database="postgres")
    await until_ready_says(run, server, 200, within_s=8)
    run.end()


@fault(is_unready=True)
async def no_slot_for_tokens(run):
    """The reader of revoked credentials loses its connection and gets no other one: no token is accepted."""
    await without_slot(run, "player_suspension")


@fault(is_unready=True)
async def no_slot_for_lookups(run):
    """The look-ups of the workers lose their connections and get no others."""
    await without_slot(run, "left join player invited")


@fault()
async def three_servers_on_fifty_connections(run):
    """max_connections is 50: servers that are ready answer every call, and those that are not say why."""
    cluster = await asyncio.to_thread(run.cluster, options=["max_connections=50"])
    servers = [await run.server(cluster.url()) for _ in range(3)]
    # Until each has looked for its connections.
    await asyncio.sleep(SETTLE_S)
    ready = Ready(*servers)
    run.undo.append(ready.task.cancel)
    await asyncio.sleep(LOOK_S)
    await run.play(ready.targets)
    run.begin()
    await asyncio.sleep(8)
    run.end()
    run.notes.append(f"/readyz: {[await ask(server, '/readyz') for server in servers]}")
    # The commands that follow need connections too.
    for server in servers[1:]:
        await server.stop()
    if run.load.seen["503 unavailable"]:
        run.problems.append("servers that were ready answered 503")


@fault()
async def pgbouncer_of_twenty(run):
    """Behind a pgbouncer in session mode with its default pool of 20: the plan is smaller, and no call fails."""
    cluster = await asyncio.to_thread(run.cluster)
    port = pgbouncer(run, cluster, "session", pool_size=20)
    await asyncio.sleep(1)
    server = await run.server(cluster.url(port))
    await run.play()
    run.begin()
    await asyncio.sleep(6)
    # The server has all that the pooler gives, so the commands that follow go to PostgreSQL.
    server.variables["DATABASE_URL"] = cluster.url()
    status, body = await ask(server, "/readyz")
    if status != 200 or not json.loads(body)["degraded"]:
        run.problems.append(f"/readyz: {status} {body}")
    if run.load.seen["503 unavailable"]:
        run.problems.append("calls were answered 503")
    run.end()


@fault(bound_s=5)
async def dead_machine(run):
    """A server's machine vanishes: its packets are dropped. PostgreSQL ends its sessions within a minute or so."""
    if os.geteuid() != 0:
        raise Skipped("dropping packets needs root")
    cluster = await asyncio.to_thread(run.cluster)
    await cluster.asql("create role dying login; grant mancala to dying", database="postgres")
    await run.server(cluster.url())
    dying = await run.server(cluster.url(user="dying"))
    run.servers.remove(dying)
    await run.play()
    run.begin()
    count = "select count(*) from pg_stat_activity where usename = 'dying'"
    ports = await cluster.asql("select string_agg(client_port::text, ', ') from pg_stat_activity where usename = 'dying'")
    ports = f"{{ {ports} }}"
    rules = f"""table inet mancala_dead {{
        chain in {{
            type filter hook input priority 0;
            tcp sport {ports} drop
            tcp dport {ports} drop
        }}
    }}"""
    if subprocess.run(["nft", rules], capture_output=True, check=False).returncode:
        raise Skipped("no nft, or no right to use it")
    run.undo.append(lambda: subprocess.run(["nft", "delete table inet mancala_dead"], check=False))
    dying.kill()
    held, begun = await cluster.asql(count), time.monotonic()
    while int(await cluster.asql(count)) and time.monotonic() - begun < DEAD_MACHINE_S:
        await asyncio.sleep(1)
    left = await cluster.asql(count)
    run.notes.append(f"sessions of the dead machine: {held}, after {time.monotonic() - begun:.0f} s {left}")
    if left != "0":
        run.problems.append("sessions of a dead machine are still held")
    run.end()
