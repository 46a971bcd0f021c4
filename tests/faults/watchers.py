"""Clients that watch games while others play them: streams of events, and reads that must have every acknowledged move."""

import asyncio
import collections
import json
import random

from clients import CALL_S, Connection, Targets

# How long a watcher keeps a stream before it opens another one, at the next server.
STREAM_S = 3
PAUSE_S = 0.3


class Follower:
    """Follows the events of games by streams, which it opens again and again with `Last-Event-ID`."""

    def __init__(self, load, *bases):
        self.load, self.targets, self.seen = load, Targets(*bases), collections.Counter()
        # game → [(type, move)], in the order of arrival; their ids are 1, 2, 3 …
        self.events, self.problems = {}, []
        self.task = asyncio.ensure_future(self.follow())

    async def follow(self):
        while True:
            game = next((game for game in reversed(self.load.tokens) if game not in self.events), None)
            if game is None:
                await asyncio.sleep(PAUSE_S)
                continue
            self.events[game] = []
            while not await self.stream(game, STREAM_S):
                await asyncio.sleep(PAUSE_S)

    async def stream(self, game, seconds):
        """Follows one stream, at most so long; whether the game's events have come to their end."""
        base, self.own = self.targets.choose(), None
        try:
            async with asyncio.timeout(seconds):
                return await self.read(base, game)
        except TimeoutError:
            return False
        except (OSError, EOFError):
            self.seen["lost"] += 1
            return False
        finally:
            if self.own:
                self.own.close()

    async def read(self, base, game):
        reader, self.own = await asyncio.open_connection(base.hostname, base.port)
        known = self.events[game]
        last = f"last-event-id: {len(known)}\r\n" if known else ""
        head = f"GET /v1/games/{game}/events HTTP/1.1\r\nhost: {base.netloc}\r\naccept: text/event-stream\r\n{last}"
        self.own.write(f"{head}authorization: Bearer {self.load.tokens[game]}\r\n\r\n".encode())
        status = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
        self.seen[status] += 1
        if status != "200":
            if status not in ("204", "503"):
                self.problems.append(f"a stream of {game} after {len(known)} is {status}")
            return status == "204"
        text = b""
        while size := int(await reader.readline(), 16):
            text += (await reader.readexactly(size + 2))[:-2]
            *blocks, text = text.split(b"\n\n")
            if any([self.take(game, block.decode()) for block in blocks]):
                return True
        return False

    def take(self, game, block):
        """Notes an event; whether it says that no more will come."""
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line[1:])
        if "id" not in fields:
            return fields.get("event") == "end"
        known, data = self.events[game], json.loads(fields["data"])
        if int(fields["id"]) != len(known) + 1:
            self.problems.append(f"{game}: event {fields['id']} came after {len(known)}")
        known.append((data["type"], (data.get("move") or {}).get("move")))
        return False

    async def check(self):
        """After the load: what came by streams is what the log has, to its end."""
        end(self.task)
        own = Connection(Targets(self.targets.bases[0]))
        for game, known in self.events.items():
            stored, after = [], 0
            while True:
                _, _, body = await own.call("GET", f"/v1/games/{game}/events?after={after}&limit=100", self.load.tokens[game])
                page = json.loads(body)["items"]
                stored += [(item["type"], (item.get("move") or {}).get("move")) for item in page]
                if len(page) < 100:
                    break
                after = page[-1]["seq"]
            for _ in range(20):
                if len(known) >= len(stored):
                    break
                await self.stream(game, 1)
            if known != stored:
                self.problems.append(f"{game}: {len(known)} events by streams, {len(stored)} stored, or others")
        own.close()
        if not any(self.events.values()) or self.seen["200"] < 2:
            self.problems.append("no stream was followed")
        return self.problems[:3]


class Reader:
    """Reads games at a server while they are played: each answer has all moves that were acknowledged before the read. With
    boards, because a server remembers the moves alone; so it asks the standby, where there is one."""

    def __init__(self, load, base):
        self.load, self.base, self.seen, self.problems = load, base, collections.Counter(), []
        self.task = asyncio.ensure_future(self.watch())

    async def watch(self):
        own = Connection(Targets(self.base))
        while True:
            await asyncio.sleep(PAUSE_S / 3)
            if not self.load.ledger:
                continue
            (game, ply), (move, *_) = random.choice(list(self.load.ledger.items())[-20:])
            try:
                status, _, body = await own.call("GET", f"/v1/games/{game}/moves?after={ply - 1}&limit=1&include=board", self.load.tokens[game])
            except (OSError, EOFError, TimeoutError):
                self.seen["lost"] += 1
                continue
            self.seen[status] += 1
            if status == 200 and [item["move"] for item in json.loads(body)["items"]] != [move]:
                self.problems.append(f"{self.base.netloc} does not show ply {ply} of {game}")
            elif status not in (200, 503):
                self.problems.append(f"{self.base.netloc} answers {status} to a read")

    async def check(self):
        end(self.task)
        return self.problems[:3] if self.seen[200] else ["no game was read"]


def end(task):
    """Ends a watcher; one that has broken down has watched nothing since."""
    if task.done():
        task.result()
    task.cancel()


async def boards_of(load, bases):
    """The games whose board, at one of several servers, is not the one after the last move of the log, or not the same at all."""
    owns, problems = [Connection(Targets(base)) for base in bases], []
    for game, token in load.tokens.items():
        shown = []
        for own in owns:
            async with asyncio.timeout(CALL_S):
                status, _, body = await own.call("GET", f"/v1/games/{game}", token)
                state = json.loads(body)
                path = f"/v1/games/{game}/moves?after={max(0, state.get('ply', 0) - 1)}&limit=2"
                _, _, body = await own.call("GET", path, token)
            moves = json.loads(body).get("items", [])
            if status != 200 or state["ply"] and [(move["ply"], move["position"]) for move in moves] != [(state["ply"], state["position"])]:
                problems.append(f"{own.targets.bases[0].netloc} shows {game} otherwise than its log: {status}")
            shown.append((status, state.get("version"), state.get("position")))
        if len(set(shown)) > 1:
            problems.append(f"{game} differs: {shown}")
    for own in owns:
        own.close()
    return problems[:3]
