"""Faults of the server's own process: kills, stops, restarts, clocks, limits, and servers beside each other."""

import asyncio
import glob
import json
import os

from clients import Connection, Targets
from cluster import Skipped
from run_of_fault import QUIET_S, fault


@fault()
async def quiet(run):
    """No fault: what the clients see undisturbed."""
    cluster = run.cluster()
    await run.server(cluster.url())
    await run.play()
    run.begin()
    await asyncio.sleep(3)
    run.end()


quiet.is_seamless = True


@fault()
async def kill_server(run):
    """kill -9 of the server at an outside database, twice; each time it is started again."""
    cluster = run.cluster()
    server = await run.server(cluster.url())
    await run.play()
    run.begin()
    for _ in range(2):
        server.kill()
        await asyncio.sleep(1)
        await server.start()
        run.end()
        await asyncio.sleep(QUIET_S)


@fault()
async def kill_embedded_server(run):
    """kill -9 of the server with its embedded database; it is started again."""
    server = await run.embedded_server()
    await run.play()
    run.begin()
    server.kill()
    await asyncio.sleep(1)
    await server.start()
    run.end()
    use_embedded_database(run)


# The server starts it again so fast that clients may see nothing.
@fault()
async def kill_embedded_postmaster(run):
    """kill -9 of the embedded postmaster, three times; the server starts it again."""
    await run.embedded_server()
    await run.play()
    pid_file = os.path.join(run.folder, "data", "pgdata", "postmaster.pid")
    run.begin()
    for _ in range(3):
        with open(pid_file) as file:
            os.kill(int(file.readline()), 9)
        run.end()
        await asyncio.sleep(QUIET_S)
    use_embedded_database(run)


def use_embedded_database(run):
    """Lets `verify` reach the embedded database through its socket while the server has it."""
    folder = os.path.join(run.folder, "data", "socket")
    run.servers[0].variables["DATABASE_URL"] = f"postgres://mancala@localhost/mancala?host={folder}"


class Ready:
    """Reads /readyz of servers five times a second, and offers those that are ready: what a load balancer does."""

    def __init__(self, *servers):
        self.servers, self.targets = list(servers), Targets(*(server.base for server in servers))
        self.task = asyncio.ensure_future(self.watch())

    async def watch(self):
        silent = {}
        while True:
            ready = []
            for server in self.servers:
                own = Connection(Targets(server.base), is_fresh=True)
                try:
                    async with asyncio.timeout(2):
                        status, _, _ = await own.call("GET", "/readyz")
                    silent[server] = 0
                    ready += [server.base] if status == 200 else []
                except TimeoutError:
                    # One late answer is no reason on a busy machine.
                    silent[server] = silent.get(server, 0) + 1
                    ready += [server.base] if silent[server] < 2 and server.base in self.targets.bases else []
                except (OSError, EOFError):
                    pass
                own.close()
            self.targets.bases = ready
            await asyncio.sleep(0.2)


async def restart_in_turn(run, ready, servers):
    """Stops each server by SIGTERM and starts it again, while the balancer leads the clients to the other one."""
    run.begin()
    for server in servers:
        status = await server.stop()
        if status != 0:
            run.problems.append(f"a drained server ends with {status}")
        await server.start()
        while server.base not in ready.targets.bases:
            await asyncio.sleep(0.05)
    run.end()


@fault()
async def rolling_restart(run):
    """SIGTERM with a drain of each of two servers behind a balancer: no call fails."""
    cluster = run.cluster()
    servers = [await run.server(cluster.url(), "--drain-s", "2") for _ in range(2)]
    ready = Ready(*servers)
    await asyncio.sleep(0.5)
    await run.play(ready.targets)
    await restart_in_turn(run, ready, servers)


rolling_restart.is_seamless = True


@fault()
async def stop_in_load(run):
    """SIGTERM without a drain of a single server; it is started again."""
    cluster = run.cluster()
    server = await run.server(cluster.url())
    await run.play()
    run.begin()
    status = await server.stop()
    if status != 0:
        run.problems.append(f"the stopped server ends with {status}")
    await server.start()
    run.end()


@fault()
async def two_servers(run):
    """No fault, but two servers: the two players of a game, and the calls of each client, go to different ones."""
    cluster = run.cluster()
    servers = [await run.server(cluster.url()) for _ in range(2)]
    both = Targets(*(server.base for server in servers))
    await run.play(both, other_targets=both)
    run.begin()
    await race(run, servers)
    run.end()


async def race(run, servers):
    """Sends the same moves through both servers at once: one plays, the other one answers with the move that is there."""
    load = run.load
    own = [Connection(Targets(server.base)) for server in servers]
    made = await load.insist("race", own[0], "POST", "/v1/players", body={"name": "Race"})
    token = made[1]["access_token"]
    terms = {"variant": "congkak", "opponent": {"type": "self"}}
    game = (await load.insist("race", own[0], "POST", "/v1/games", token, terms))[1]
    load.tokens[game["id"]] = token
    for ply in range(1, 40):
        if game["status"] != "active":
            break
        move = {"ply": ply, "move": game["legal_moves"][0]}
        path = f"/v1/games/{game['id']}/moves"
        calls = [load.insist("race", each, "POST", path, token, move) for each in own]
        answers = await asyncio.gather(*calls)
        if sorted(status for status, _, _ in answers) != [200, 201]:
            run.problems.append(f"a move sent twice at once: {[status for status, _, _ in answers]}")
        load.ledger[(game["id"], ply)] = (move["move"], 0.0, answers[0][2])
        game = answers[0][1]["game"]
    # The load itself decides about recovery.
    load.succeeded.pop("race", None)
    for each in own:
        each.close()


two_servers.is_seamless = True


def library_of_false_time():
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not found:
        raise Skipped("no libfaketime (Debian: faketime)")
    return found[0]


async def play_at_wrong_clock(run, offset):
    """Two servers, one of them with a wrong clock, which reads all games. Half of the games have a player there. Turns last half an hour."""
    cluster = run.cluster()
    wrong = {"LD_PRELOAD": library_of_false_time(), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    right = await run.server(cluster.url())
    false = await run.server(cluster.url(), variables=wrong)
    clock = {"type": "per_move", "move_s": 1800}
    await run.play(Targets(right.base), clock=clock, other_targets=Targets(false.base), selfs=0, pairs=3)
    run.load.start(Targets(right.base), selfs=0, pairs=3)
    run.begin()
    for _ in range(25):
        await read_all(run.load, false)
        await asyncio.sleep(0.2)
    run.end()


async def read_all(load, server):
    """Reads every game through a server. A read ends a game whose time is over."""
    own = Connection(Targets(server.base))
    for game in list(load.tokens):
        status, _, body = await own.call("GET", f"/v1/games/{game}")
        reason = (json.loads(body).get("result") or {}).get("reason")
        if status != 200 or reason == "timeout":
            load.violations.append(f"{game}, read at the wrong clock: {status} {reason}")
    own.close()


@fault()
async def clock_ahead(run):
    """A second server whose clock is an hour ahead: no game ends by timeout."""
    await play_at_wrong_clock(run, "+1h")


@fault()
async def clock_behind(run):
    """A second server whose clock is an hour behind: no game ends by timeout."""
    await play_at_wrong_clock(run, "-1h")


@fault()
async def few_files(run):
    """`ulimit -n 256` and 400 waiting calls: moves and /livez are still answered, each on a new connection."""
    cluster = run.cluster()
    server = await run.server(cluster.url(), files=256)
    await run.play(selfs=2, pairs=2, is_fresh=True)
    game = next(iter(run.load.tokens))
    run.begin()
    waits = [asyncio.ensure_future(wait_for_events(server, game, number)) for number in range(400)]
    await asyncio.sleep(8)
    run.notes.append(f"files of the server: {len(os.listdir(f'/proc/{server.process.pid}/fd'))} of 256")
    for wait in waits:
        wait.cancel()
    run.end()


async def wait_for_events(server, game, number):
    """A client of its own address that waits for something to happen."""
    while True:
        own = Connection(Targets(server.base), address=f"127.2.{number // 200}.{number % 200 + 1}")
        try:
            await own.call("GET", f"/v1/games/{game}/events?after=999999", headers="prefer: wait=50\r\n")
        except (OSError, EOFError, TimeoutError):
            pass
        own.close()
        await asyncio.sleep(0.5)
