"""The owner of the tables migrates, and servers run as another user: rights that are missing, and how they are given."""

import asyncio
import json
import time

from urllib.parse import urlsplit

from clients import Connection, Targets
from cluster import free_port
from run_of_fault import fault

# How long /readyz may take to say that a right is missing, or is there again.
NOTICE_S = 3
LOG_S = 10


async def ask(server, path, token=None):
    """Status and body of an answer."""
    own = Connection(Targets(server.base))
    status, _, body = await own.call("GET", path, token)
    own.close()
    return status, body.decode()


async def metrics_at(port):
    """The metrics of the server that listens there for them."""
    own = Connection(Targets(urlsplit(f"http://127.0.0.1:{port}")))
    _, _, body = await own.call("GET", "/metrics")
    own.close()
    return body.decode()


async def until_ready_says(run, server, status, check=None, within_s=NOTICE_S):
    """Waits until /readyz says so; returns its body."""
    end = time.monotonic() + within_s
    while True:
        answered, body = await ask(server, "/readyz")
        if answered == status and json.loads(body).get("check") == check:
            return body
        if time.monotonic() > end:
            run.problems.append(f"/readyz says {answered} {body}, and not {status} {check}")
            return body
        await asyncio.sleep(0.1)


async def cluster_of_two_users(run):
    """A cluster with all tables, which `mancala` owns; `serving` has the rights that `migrate --grant-to` gives."""
    cluster = await asyncio.to_thread(run.cluster)
    await cluster.asql("create role serving login", database="postgres")
    owner = await run.server(cluster.url())
    await owner.stop()
    granted = await asyncio.to_thread(owner.command, "migrate", "--grant-to", "serving")
    if granted.returncode:
        run.problems.append(f"migrate --grant-to: {granted.stderr}")
        await cluster.asql("grant select, insert, update, delete on all tables in schema public to serving")
    run.servers.clear()
    return cluster, owner


def read(path):
    with open(path) as file:
        return file.read()


async def expect_named(run, server, right, body):
    """The log and the metrics name the right, and the answer that strangers read does not."""
    table = right.rpartition(" ")[2]
    if table in body:
        run.problems.append(f"/readyz names the table: {body}")
    # A failure is an outage of its own when the database has answered for some seconds beside it.
    end = time.monotonic() + LOG_S
    while right not in read(server.log):
        if time.monotonic() > end:
            run.problems.append("the log does not name the right")
            return
        await asyncio.sleep(0.1)


@fault(is_unready=True)
async def update_without_grants(run):
    """A server of the release after a migration by the owner: it lacks the rights on a new table until `migrate --grant-to`."""
    cluster, owner = await cluster_of_two_users(run)
    await run.server(cluster.url(user="serving"))
    await run.play()
    # As if a migration had just made it.
    await cluster.asql("revoke all on sign_in_network from serving")
    updated = await run.server(cluster.url(user="serving"))
    run.probe.server = updated
    run.begin()
    body = await until_ready_says(run, updated, 503, "rights")
    await expect_named(run, updated, "insert on sign_in_network", body)
    await asyncio.to_thread(owner.command, "migrate", "--grant-to", "serving")
    await until_ready_says(run, updated, 200)
    run.end()
    # The owner's later tables come with the rights.
    await cluster.asql("create table later (n integer)", user="mancala")
    if await cluster.asql("select has_table_privilege('serving', 'later', 'delete')") != "t":
        run.problems.append("the rights on later tables are not given")
    await cluster.asql("drop table later", user="mancala")


@fault(is_unready=True)
async def lost_right(run):
    """The rights on notes are revoked under a running server, which knows after the first call that needs one."""
    cluster, _ = await cluster_of_two_users(run)
    port = free_port()
    server = await run.server(cluster.url(user="serving"), "--metrics-listen", f"127.0.0.1:{port}")
    await run.play()
    run.begin()
    await cluster.asql("revoke all on note from serving")
    game, token = next(iter(run.load.tokens.items()))
    status, body = await ask(server, f"/v1/games/{game}/notes", token)
    if status != 503:
        run.problems.append(f"notes without the right: {status} {body}")
    body = await until_ready_says(run, server, 503, "rights")
    await expect_named(run, server, "select on note", body)
    if 'mancala_missing_rights{right="select on note"} 1' not in await metrics_at(port):
        run.problems.append("the metrics do not name the right")
    await cluster.asql("grant select, insert, update, delete on note to serving")
    await until_ready_says(run, server, 200)
    run.end()
    if "mancala_missing_rights{" in await metrics_at(port):
        run.problems.append("the metrics name a right that is there")
