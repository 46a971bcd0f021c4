"""Attacks that stay within the protocol: each takes what the server gives, as fast as it can, beside one honest player.

    tests/attack/abuse [ATTACK…]        all of them, or the named ones

Prints the honest player's time for a move while nothing else happens and during each attack, and the server's memory. Fails if an honest
move fails, or if a bound is broken: p99 above 2 x quiet + BOUND_MS, or more than RSS_MAX_MIB. Attackers come from addresses of their own
(127.1.0.0/16); all of it stays on this machine, and each attack takes SECONDS.
"""

import asyncio
import json
import os
import random
import statistics
import sys
import time
from urllib.parse import urlsplit

SECONDS = float(os.environ.get("ATTACK_SECONDS", "8"))
# A debug build on two shared cores, which run the attackers too. In a release build 10 holds.
BOUND_MS = float(os.environ.get("ATTACK_BOUND_MS", "250"))
RSS_MAX_MIB = 512
BASE = urlsplit(os.environ["BASE_URL"])
LONG_GAME_PLIES = 2000


class Connection:
    """One HTTP/1.1 connection from a local address."""

    def __init__(self, address):
        self.address, self.reader, self.writer = address, None, None

    async def open(self):
        local = (self.address, 0) if self.address else None
        self.reader, self.writer = await asyncio.open_connection(BASE.hostname, BASE.port, local_addr=local)

    async def send(self, method, path, token=None, body=None, kind="application/json", headers=""):
        if self.writer is None or self.writer.is_closing():
            await self.open()
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: {BASE.netloc}\r\ncontent-length: {len(data)}\r\n{headers}"
        if data:
            head += f"content-type: {kind}\r\n"
        if token:
            head += f"authorization: Bearer {token}\r\n"
        self.writer.write(head.encode() + b"\r\n" + data)
        await self.writer.drain()

    async def receive(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        status = int(head.split(" ", 2)[1])
        if "transfer-encoding: chunked" in head:
            body = b""
            while size := int(await self.reader.readline(), 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        else:
            length = [line for line in head.split("\r\n") if line.startswith("content-length:")]
            body = await self.reader.readexactly(int(length[0].split(":")[1])) if length else b""
        if "connection: close" in head:
            self.close()
        return status, body

    async def call(self, *arguments, **options):
        await self.send(*arguments, **options)
        return await self.receive()

    async def json(self, *arguments, **options):
        status, body = await self.call(*arguments, **options)
        assert status < 300, (arguments[:2], status, body[:300])
        return json.loads(body)

    def close(self):
        if self.writer is not None:
            self.writer.close()
            self.writer = None


async def honest(seconds):
    """Plays against oneself, one move after the other; the milliseconds of each move."""
    own, taken, game = Connection(None), [], None
    token = (await own.json("POST", "/v1/players", body={"name": "Honest"}))["access_token"]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if game is None or game["status"] != "active":
            game = await own.json("POST", "/v1/games", token, {"variant": "kalah", "opponent": {"type": "self"}})
        move = {"ply": game["ply"] + 1, "move": random.choice(game["legal_moves"])}
        begun = time.monotonic()
        game = (await own.json("POST", f"/v1/games/{game['id']}/moves", token, move))["game"]
        taken.append((time.monotonic() - begun) * 1000)
        # As many moves as the limit of a player allows.
        await asyncio.sleep(0.1)
    own.close()
    return taken


def rss_mib():
    with open(f"/proc/{os.environ['SERVER_PID']}/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))


async def watch_rss(peak):
    while True:
        peak[0] = max(peak[0], rss_mib())
        await asyncio.sleep(0.1)


def addresses(count):
    return [f"127.1.{n // 200}.{n % 200 + 1}" for n in range(count)]


async def repeat(address, paths, calls, **options):
    """Calls again and again, in vain or not, and waits a little after a refusal."""
    own, statuses = Connection(address), {}
    while True:
        try:
            status, _ = await own.call("GET", random.choice(paths), **options)
        except (OSError, asyncio.IncompleteReadError):
            own.close()
            status = 0
        calls[status] = statuses[status] = calls.get(status, 0) + 1
        if status in (0, 429, 503):
            await asyncio.sleep(0.05)


def whole_games(game, calls):
    """24 connections of one address, and 24 of as many, that verify, export and draw the longest game."""
    paths = [f"/v1/games/{game}/{what}" for what in ("verify", "export", "export?format=text", "graph.svg")]
    paths.append("/v1/games/export?limit=50")
    return [repeat(address, paths, calls) for address in ["127.1.9.9"] * 24 + addresses(24)]


async def ask_and_read_nothing(address, path, calls):
    own = Connection(address)
    own.writer = None
    try:
        await own.open()
        # The kernel keeps little for a client with a small window.
        for _ in range(8):
            await own.send("GET", path)
        calls["asked"] = calls.get("asked", 0) + 1
        await asyncio.sleep(3600)
    except OSError:
        calls["cut"] = calls.get("cut", 0) + 1
    finally:
        own.close()


def unread_answers(game, calls):
    """200 connections that ask for long answers and read none."""
    return [
        ask_and_read_nothing(address, path, calls)
        for address in ["127.1.9.9"] * 100 + addresses(100)
        for path in [f"/v1/games/{game}/export"]
    ]


def idle_connections(game, calls):
    """A crowd of connections of one address that send nothing after one call, and as many that wait."""

    async def idle(n):
        own = Connection("127.1.9.9")
        await own.open()
        if n % 2:
            status, _ = await own.call("GET", "/livez")
        else:
            await own.send("GET", f"/v1/games/{game}/events?after=999999", headers="prefer: wait=50\r\n")
            status = "waits"
        calls[status] = calls.get(status, 0) + 1
        await asyncio.sleep(3600)

    return [idle(n) for n in range(800)]


ATTACKS = {"whole_games": whole_games, "unread_answers": unread_answers, "idle_connections": idle_connections}


async def long_game():
    """Imports the longest game there may be; its id."""
    own = Connection(None)
    player = {"name": f"Importer {random.randrange(10**6)}", "password": "a long pass phrase"}
    token = (await own.json("POST", "/v1/players", body=player))["access_token"]
    moves = [{"move": "C"}, {"move": "takeback", "effects": [{"type": "takeback", "to_ply": 0}]}] * (LONG_GAME_PLIES // 2)
    body = {"game": {"variant": "kalah"}, "moves": moves}
    report = await own.json("POST", "/v1/games/import?visibility=public", token, body)
    own.close()
    assert report["imported"] == 1, report
    return report["items"][0]["game_id"]


def summary(taken):
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98]


async def main(names):
    game, failed = await long_game(), False
    quiet = summary(await honest(SECONDS))
    print(f"{'':18}  p50 ms  p99 ms  RSS MiB  answers")
    print(f"{'quiet':18}  {quiet[0]:6.1f}  {quiet[1]:6.1f}  {rss_mib():7}")
    for name in names or ATTACKS:
        calls, peak = {}, [0]
        tasks = [asyncio.create_task(work) for work in ATTACKS[name](game, calls)]
        tasks.append(asyncio.create_task(watch_rss(peak)))
        await asyncio.sleep(1)
        p50, p99 = summary(await honest(SECONDS))
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        broken = [end for end in ended if isinstance(end, Exception)]
        print(f"{name:18}  {p50:6.1f}  {p99:6.1f}  {peak[0]:7}  {calls} {broken[:1] or ''}", flush=True)
        if p99 > 2 * quiet[1] + BOUND_MS or peak[0] > RSS_MAX_MIB:
            print(f"{name} breaks a bound", file=sys.stderr)
            failed = True
    return failed


sys.exit(asyncio.run(main(sys.argv[1:])))
