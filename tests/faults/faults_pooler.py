"""A pgbouncer between the server and PostgreSQL."""

import asyncio
import os
import shutil
import subprocess
import time

from clients import Connection, Targets
from cluster import Skipped, as_postgres, free_port
from run_of_fault import fault
from server import NotStarted

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The server limits a wait for a lock to 250 ms, and tries a few times.
LIMITED_S = 3


def pgbouncer(run, cluster, mode, is_old=False, pool_size=60):
    """Starts a pgbouncer in front of the cluster; its port. An old one does not follow prepared statements."""
    variable = "OLD_PGBOUNCER" if is_old else "PGBOUNCER"
    program = os.environ.get(variable) or shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin")
    if program is None:
        raise Skipped(f"no pgbouncer (Debian: pgbouncer; {variable} names another one)")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    minor = int(version.split(".")[1])
    if mode == "transaction" and is_old != (minor < 21):
        raise Skipped(f"pgbouncer {version}, and this needs {'less than 1.21' if is_old else '1.21 or newer'}: {variable} names another one")
    run.notes.append(f"pgbouncer {version}, pool_mode {mode}")
    port, ini = free_port(), os.path.join(run.folder, "pgbouncer.ini")
    users = os.path.join(run.folder, "users.txt")
    prepared = "max_prepared_statements = 500\n" if minor >= 21 else ""
    with open(users, "w") as file:
        file.write('"mancala" ""\n"postgres" ""\n')
    with open(ini, "w") as file:
        file.write(f"""[databases]
mancala = host=127.0.0.1 port={cluster.port} dbname=mancala
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
admin_users = postgres
pool_mode = {mode}
default_pool_size = {pool_size}
max_client_conn = 300
ignore_startup_parameters = extra_float_digits,options
{prepared}""")
    with open(os.path.join(run.folder, "pgbouncer.log"), "w") as log:
        process = subprocess.Popen([program, ini], stdout=log, stderr=log, cwd="/", **as_postgres())

    def stop():
        process.terminate()
        process.wait()

    run.undo.append(stop)
    return port


async def play_behind_pgbouncer(run, mode, settings=()):
    """Plays behind a pgbouncer that is disturbed: what the server warned of at its start."""
    cluster = run.cluster()
    for setting in settings:
        await cluster.asql(setting)
    port = pgbouncer(run, cluster, mode)
    await asyncio.sleep(1)
    server = await run.server(cluster.url(port))
    warnings = warnings_of(server)
    await run.play(Targets(server.base))

    def admin(command):
        line = [os.path.join(cluster.bin, "psql"), "-X", "-q", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-d", "pgbouncer",
                "-c", command]
        return subprocess.run(line, capture_output=True, timeout=30, check=False)

    run.begin()
    await asyncio.to_thread(admin, "RECONNECT")
    await asyncio.sleep(2)
    # In session mode PAUSE waits for all clients to leave, so it is given up.
    if mode == "transaction":
        await asyncio.to_thread(admin, "PAUSE")
        await asyncio.sleep(2)
        await asyncio.to_thread(admin, "RESUME")
    run.end()
    return warnings


@fault()
async def pgbouncer_session(run):
    """Behind pgbouncer in session mode, with RECONNECT. The server's own limits are in effect."""
    await play_behind_pgbouncer(run, "session")
    await expect_limits(run)


@fault()
async def pgbouncer_transaction(run):
    """Behind pgbouncer in transaction mode, with RECONNECT, PAUSE and RESUME. The server says what it misses."""
    warnings = await play_behind_pgbouncer(run, "transaction")
    if len(warnings) != 2:
        run.problems.append(f"it does not say what it misses: {warnings}")


@fault()
async def pgbouncer_role(run):
    """The same, with the settings of the role that docs/operations/database.md names: the limits are in effect."""
    with open(f"{ROOT}/docs/operations/database.md") as document:
        settings = [line for line in document if line.startswith("alter role mancala set ")]
    warnings = await play_behind_pgbouncer(run, "transaction", settings)
    await expect_limits(run)
    if len(settings) < 5 or len(warnings) != 1:
        run.problems.append(f"it misses what the role has: {settings} {warnings}")


@fault()
async def pgbouncer_old(run):
    """Behind a pgbouncer before 1.21 in transaction mode a second server refuses to start, in one line."""
    cluster = run.cluster()
    await run.server(cluster.url())
    await run.play()
    run.begin()
    port = pgbouncer(run, cluster, "transaction", is_old=True)
    await asyncio.sleep(1)
    try:
        await run.server(cluster.url(port))
        run.problems.append("it started")
    except NotStarted as why:
        if "keeps no prepared statements" not in str(why).splitlines()[-1]:
            run.problems.append(f"it does not say why: {why}")
    run.servers.pop()
    run.end()


def warnings_of(server):
    with open(server.log) as log:
        return [line for line in log if '"WARN"' in line]


async def expect_limits(run):
    """Locks a table: a request that needs it must fail soon."""
    cluster = run.clusters[0]
    holder = asyncio.ensure_future(cluster.asql("begin; lock table webhook in access exclusive mode; select pg_sleep(8)"))
    while await cluster.asql("select count(*) from pg_locks where mode = 'AccessExclusiveLock' and granted") == "0":
        await asyncio.sleep(0.05)
    own, begun = Connection(Targets(run.servers[0].base)), time.monotonic()
    token = next(iter(run.load.tokens.values()))
    await own.call("GET", "/v1/webhooks", token)
    took = time.monotonic() - begun
    own.close()
    run.notes.append(f"a statement that waits for a lock ends after {took:.1f} s")
    if took > LIMITED_S:
        run.problems.append("the limits are not in effect")
    await holder
