"""Attacks that stay within the protocol: each takes what the server gives, as fast as it can, beside one honest player.

    tests/attack/abuse [ATTACK…]        all of them, or the named ones

Prints, while nothing else happens and during each attack: the honest player's times for a move and a sign-in, the time until a
webhook tells of a move, the time of a durable write to the disk, the server's memory, and how much the database has grown. Fails
if an honest call fails, or if a bound is broken: the p99 of moves above 2 x quiet + BOUND_MS, or more than RSS_MAX_MIB. Attackers
come from addresses of their own (127.1.0.0/16); all of it stays on this machine, and each attack takes SECONDS.
"""

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import attacks
from client import Connection

SECONDS = float(os.environ.get("ATTACK_SECONDS", "15"))
# For a release build. A debug build takes ten times as long for the same answers.
BOUND_MS = float(os.environ.get("ATTACK_BOUND_MS", "10"))
RSS_MAX_MIB = 512
LONG_GAME_PLIES = 2000
# As many moves as the limit of a player allows.
MOVE_EACH_S = 0.1
SIGN_IN_EACH_S = 1
# Notices that come after the attack's end count as that late.
NOTICE_WAIT_S = 10
PASSWORD = "correct horse battery staple"


class Disk:
    """A page that is written durably, again and again, beside everything else. A move waits for one such write."""

    def __init__(self):
        self.writes = []
        threading.Thread(target=self.write, daemon=True).start()

    def write(self):
        with tempfile.TemporaryFile() as file:
            while True:
                begun = time.monotonic()
                os.pwrite(file.fileno(), b"x" * 8192, 0)
                os.fdatasync(file.fileno())
                self.writes.append((time.monotonic() - begun) * 1000)
                time.sleep(0.05)


class Honest:
    """An account that plays against itself, is notified of its moves, and signs in every second."""

    def __init__(self):
        self.name = f"Honest {random.randrange(10**6)}"
        self.own, self.token = Connection(None), None
        self.moves, self.sign_ins, self.sent, self.arrived = [], [], {}, {}

    async def start(self):
        account = {"name": self.name, "password": PASSWORD}
        self.token = (await self.own.json("POST", "/v1/players", body=account))["access_token"]
        endpoint = await asyncio.start_server(self.notified, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{endpoint.sockets[0].getsockname()[1]}/"
        await self.own.json("POST", "/v1/webhooks", self.token, {"url": url, "events": ["game.move"]})

    async def notified(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:"))
        message = json.loads(await reader.readexactly(length))
        data = message["data"]
        answer = json.dumps({"challenge": data.get("challenge", "")}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(answer) + answer)
        await writer.drain()
        writer.close()
        self.arrived.setdefault((data.get("game_id"), data.get("seq")), time.monotonic())

    async def play(self, seconds):
        end, game = time.monotonic() + seconds, None
        while time.monotonic() < end:
            if game is None or game["status"] != "active":
                body = {"variant": "kalah", "opponent": {"type": "self"}}
                game = await self.own.json("POST", "/v1/games", self.token, body)
            move = {"ply": game["ply"] + 1, "move": random.choice(game["legal_moves"])}
            begun = time.monotonic()
            game = (await self.own.json("POST", f"/v1/games/{game['id']}/moves", self.token, move))["game"]
            self.moves.append((time.monotonic() - begun) * 1000)
            # The last event of a game is its end, not the move.
            if game["status"] == "active":
                self.sent[game["id"], game["version"]] = begun
            await asyncio.sleep(MOVE_EACH_S)

    async def sign_in(self, seconds):
        end, own = time.monotonic() + seconds, Connection(None)
        body = {"grant_type": "password", "name": self.name, "password": PASSWORD}
        while time.monotonic() < end:
            begun = time.monotonic()
            await own.json("POST", "/v1/tokens", body=body)
            self.sign_ins.append((time.monotonic() - begun) * 1000)
            await asyncio.sleep(SIGN_IN_EACH_S)
        own.close()

    async def run(self, seconds):
        self.moves, self.sign_ins, self.sent, self.arrived = [], [], {}, {}
        await asyncio.gather(self.play(seconds), self.sign_in(seconds))
        end = time.monotonic() + NOTICE_WAIT_S
        while self.sent.keys() - self.arrived and time.monotonic() < end:
            await asyncio.sleep(0.05)

    def notices(self):
        """The milliseconds from each move to its notice, until now if there is none."""
        now = time.monotonic()
        return [(self.arrived.get(move, now) - sent) * 1000 for move, sent in self.sent.items()]


def rss_mib():
    with open(f"/proc/{os.environ['SERVER_PID']}/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))


def database_mib():
    query = ["psql", "-XAtqc", "select pg_database_size(current_database()) / 1048576", os.environ["DATABASE_URL"]]
    return int(subprocess.run(query, check=True, capture_output=True, text=True).stdout)


async def settle():
    """Writes to the disk what earlier attacks left to be written, which would slow the next one."""
    superuser = os.environ["DATABASE_URL"].replace("//mancala@", "//postgres@")
    await asyncio.to_thread(subprocess.run, ["psql", "-XAtqc", "checkpoint", superuser], check=True)
    await asyncio.to_thread(os.sync)


async def watch_rss(peak):
    while True:
        peak[0] = max(peak[0], rss_mib())
        await asyncio.sleep(0.1)


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


def p50_p99(taken):
    """Both, or an infinite time if nothing was done at all."""
    if len(taken) < 2:
        return (taken or [float("inf")]) * 2
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98]


def report(name, honest, disk, peak, grown, calls):
    """Prints a line; the p99 of the moves."""
    _, disk99 = p50_p99(disk.writes)
    (move50, move99), (sign50, sign99), (notice50, notice99) = map(p50_p99, (honest.moves, honest.sign_ins, honest.notices()))
    print(f"{name:16}  {move50:7.1f} {move99:7.1f}  {sign50:7.1f} {sign99:7.1f}  {notice50:7.0f} {notice99:7.0f}  {disk99:8.1f}  {peak:7}  {grown:12}  {calls}",
          flush=True)
    return move99


async def main(names):
    game, failed, honest, disk = await long_game(), False, Honest(), Disk()
    await honest.start()
    print(f"{'p50 and p99 in ms':16}  {'move':>15}  {'sign-in':>15}  {'notice':>15}  disk p99  RSS MiB  database MiB  answers")
    await settle()
    disk.writes.clear()
    await honest.run(SECONDS)
    quiet = report("quiet", honest, disk, rss_mib(), "", "")
    for name in names or attacks.ATTACKS:
        await settle()
        peak, before = [0], database_mib()
        watching = asyncio.create_task(watch_rss(peak))
        attack = await asyncio.create_subprocess_exec(
            sys.executable, attacks.__file__, name, game, honest.name, stdout=subprocess.PIPE, start_new_session=True
        )
        await asyncio.sleep(1)
        disk.writes.clear()
        await honest.run(SECONDS)
        attack.terminate()
        answers, _ = await attack.communicate()
        watching.cancel()
        p99 = report(name, honest, disk, peak[0], f"+{database_mib() - before}", answers.decode().strip())
        if p99 > 2 * quiet + BOUND_MS or peak[0] > RSS_MAX_MIB:
            print(f"{name} breaks a bound", file=sys.stderr)
            failed = True
    return failed


sys.exit(asyncio.run(main(sys.argv[1:])))
