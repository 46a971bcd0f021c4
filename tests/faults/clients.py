"""Clients that play through a fault as docs/api.md tells them to, with a ledger of the moves that were acknowledged.

A move that gets 503 or no answer is sent again as it was, after a pause. A 409 has the present game, and the client goes on from it. Every
200 and 201 is an acknowledged move. At the end each of them is read back.
"""

import asyncio
import collections
import json
import random
import time

# Above every timeout of the server: a client gives up on an answer after that time.
CALL_S = 30
BACKOFF_S = (0.1, 0.2, 0.4, 0.8, 1.0)
PAUSE_S = 0.03
PLIES_MAX = 400


class Targets:
    """The servers among which a client chooses for each call, as a load balancer does that reads /readyz."""

    def __init__(self, *bases):
        self.bases, self.turn = list(bases), random.randrange(1000)

    def choose(self):
        self.turn += 1
        return self.bases[self.turn % len(self.bases)] if self.bases else None


class Connection:
    """One HTTP/1.1 connection, opened again where it was lost or where another server is chosen."""

    def __init__(self, targets, is_fresh=False, address=None):
        self.targets, self.base, self.reader, self.writer = targets, None, None, None
        # Whether each call opens a connection of its own; the local address to connect from.
        self.is_fresh, self.address = is_fresh, address

    async def call(self, method, path, token=None, body=None, headers=""):
        """Status, head and body of an answer. Raises OSError, EOFError or TimeoutError if there is none."""
        base = self.targets.choose()
        if base is None:
            raise ConnectionRefusedError("no server is ready")
        if self.is_fresh or base != self.base or self.writer is None or self.writer.is_closing():
            self.close()
            self.base = base
        try:
            async with asyncio.timeout(CALL_S):
                return await self.exchange(method, path, token, body, headers)
        except BaseException:
            self.close()
            raise

    async def exchange(self, method, path, token, body, headers):
        if self.writer is None:
            local = (self.address, 0) if self.address else None
            self.reader, self.writer = await asyncio.open_connection(self.base.hostname, self.base.port, local_addr=local)
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: {self.base.netloc}\r\ncontent-length: {len(data)}\r\n{headers}"
        if data:
            head += "content-type: application/json\r\n"
        if token:
            head += f"authorization: Bearer {token}\r\n"
        self.writer.write(head.encode() + b"\r\n" + data)
        await self.writer.drain()
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = [line for line in head.split("\r\n") if line.startswith("content-length:")]
        if "transfer-encoding: chunked" in head:
            answer = b""
            while size := int(await self.reader.readline(), 16):
                answer += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        else:
            answer = await self.reader.readexactly(int(length[0].split(":")[1])) if length else b""
        if "connection: close" in head:
            self.close()
        return int(head.split(" ", 2)[1]), head, answer

    def close(self):
        if self.writer is not None:
            self.writer.close()
            self.writer = None


class Load:
    """All clients of a run, what they saw, and the ledger."""

    def __init__(self, clock=None):
        # (game, ply) → (move, when it was sent, when it was acknowledged)
        self.ledger = {}
        self.tokens = {}
        self.seen = collections.Counter()
        self.violations = []
        # When each client had its last success, and when any client saw its last failure.
        self.succeeded, self.failed_at = {}, 0.0
        # When clients were answered 503.
        self.unavailable = []
        self.tasks, self.stopping, self.clock = [], False, clock

    def start(self, targets, selfs=4, pairs=4, other_targets=None, is_fresh=False):
        """Starts clients that play for both sides, and pairs of players. `other_targets` are those of the second player."""
        for seats in [[targets]] * selfs + [[targets, other_targets or targets]] * pairs:
            name = f"client {len(self.tasks)}"
            self.tasks.append(asyncio.ensure_future(self.play(name, seats, is_fresh)))

    async def stop(self):
        """Lets every client finish what it does; a crash of a client is a fault of the run."""
        self.stopping = True
        done, late = await asyncio.wait(self.tasks, timeout=CALL_S + 10)
        for task in late:
            task.cancel()
        for task in done:
            if task.exception():
                raise task.exception()

    def note(self, name, status, body):
        """Counts an answer; whether it is a success."""
        is_failure = status in (429, 500, 503) or status in (0, 401, 403, 404, 422) or status >= 500
        if is_failure:
            code = json.loads(body).get("code", "") if body[:1] == b"{" else ""
            self.seen[f"{status} {code}".strip()] += 1
            self.failed_at = time.monotonic()
            self.unavailable += [self.failed_at] if status == 503 else []
        else:
            self.seen[str(status)] += 1
            self.succeeded[name] = time.monotonic()

    def note_error(self, error):
        words = {ConnectionRefusedError: "refused", ConnectionResetError: "reset", BrokenPipeError: "reset",
                 asyncio.IncompleteReadError: "closed", TimeoutError: "timeout"}
        word = next((word for kind, word in words.items() if isinstance(error, kind)), type(error).__name__)
        self.seen[word] += 1
        self.failed_at = time.monotonic()

    async def insist(self, name, own, method, path, token=None, body=None, headers=""):
        """Sends a call until there is an answer other than 429, 500 and 503; None when the run ends meanwhile."""
        tries = 0
        while True:
            pause = BACKOFF_S[min(tries, len(BACKOFF_S) - 1)]
            tries += 1
            sent = time.monotonic()
            try:
                status, head, answer = await own.call(method, path, token, body, headers)
            except (OSError, EOFError, TimeoutError) as error:
                self.note_error(error)
            else:
                self.note(name, status, answer)
                if status not in (429, 500, 502, 503, 504):
                    return status, json.loads(answer) if answer else None, sent
                after = [line for line in head.split("\r\n") if line.startswith("retry-after:")]
                if after:
                    pause = min(float(after[0].split(":")[1]), 2.0)
                elif status == 503:
                    self.violations.append(f"503 without Retry-After: {method} {path}")
            if self.stopping:
                return None
            await asyncio.sleep(pause)

    async def play(self, name, targets, is_fresh):
        """Plays game after game until the load stops."""
        own = [Connection(each, is_fresh) for each in targets]
        try:
            tokens, game = await self.new_players(name, own), None
            while tokens and not self.stopping:
                if game is None or game["status"] != "active" or game["ply"] > PLIES_MAX:
                    game = await self.new_game(name, own, tokens)
                    if game is None:
                        # The players are not there any more, or the run ends.
                        await asyncio.sleep(BACKOFF_S[-1])
                        tokens = await self.new_players(name, own) or tokens
                        continue
                    self.tokens[game["id"]] = tokens[0]
                game = await self.move(name, own, tokens, game)
                await asyncio.sleep(PAUSE_S)
        finally:
            for connection in own:
                connection.close()

    async def new_players(self, name, own):
        """A guest for each seat: their tokens, or None when the run ends meanwhile."""
        made = [await self.insist(name, each, "POST", "/v1/players", body={"name": name}) for each in own]
        return None if None in made else [answer[1]["access_token"] for answer in made]

    async def new_game(self, name, own, tokens):
        terms = {"variant": "kalah", "opponent": {"type": "self"}}
        if len(own) == 2:
            terms = {"variant": "kalah", "side": "south"} | ({"clock": self.clock} if self.clock else {})
        key = f"idempotency-key: {name.replace(' ', '-')}-{random.randrange(10**12)}\r\n"
        made = await self.insist(name, own[0], "POST", "/v1/games", tokens[0], terms, key)
        if made is None or made[0] not in (200, 201):
            return None
        if len(own) == 1:
            return made[1]
        joined = await self.insist(name, own[1], "POST", f"/v1/games/{made[1]['id']}/join", tokens[1])
        return joined[1] if joined and joined[0] == 200 else None

    async def move(self, name, own, tokens, game):
        """Plays one move to its end: the game after it, or None if it is not there any more."""
        seat = 0 if len(own) == 1 or game["turn"] == "south" else 1
        move = {"ply": game["ply"] + 1, "move": random.choice(game["legal_moves"])}
        path = f"/v1/games/{game['id']}/moves"
        answered = await self.insist(name, own[seat], "POST", path, tokens[seat], move)
        if answered is None:
            return None
        status, body, sent = answered
        if status in (200, 201):
            key = (game["id"], move["ply"])
            if key in self.ledger and self.ledger[key][0] != move["move"]:
                self.violations.append(f"{game['id']}: ply {move['ply']} was acknowledged twice")
            self.ledger[key] = (move["move"], sent, time.monotonic())
            if (body["game"].get("result") or {}).get("reason") == "timeout":
                self.violations.append(f"{game['id']} ended by timeout")
            return body["game"]
        if status == 409:
            self.seen[body.get("code", "")] += 1
            if ((body.get("game") or {}).get("result") or {}).get("reason") == "timeout":
                self.violations.append(f"{game['id']} ended by timeout")
            return body.get("game")
        return None

    async def read_back(self, base, counts=lambda sent, acknowledged: True):
        """How many acknowledged moves count, and those of them that the API does not show."""
        own, lost, games = Connection(Targets(base)), [], collections.defaultdict(dict)
        for (game, ply), (move, sent, acknowledged) in self.ledger.items():
            if counts(sent, acknowledged):
                games[game][ply] = move
        for game, plies in games.items():
            stored, after = {}, 0
            while True:
                path = f"/v1/games/{game}/moves?after={after}&limit=100"
                status, _, body = await own.call("GET", path, self.tokens[game])
                if status != 200:
                    break
                items = json.loads(body)["items"]
                stored |= {item["ply"]: item["move"] for item in items}
                if len(items) < 100:
                    break
                after = items[-1]["ply"]
            lost += [(game, ply, move, stored.get(ply)) for ply, move in plies.items() if stored.get(ply) != move]
        own.close()
        return sum(map(len, games.values())), lost

    async def differences(self, *bases):
        """The games that servers of one database show differently."""
        own, differing = [Connection(Targets(base)) for base in bases], []
        for game, token in self.tokens.items():
            for path in (f"/v1/games/{game}", f"/v1/games/{game}/moves?limit=100"):
                answers = [await each.call("GET", path, token) for each in own]
                if len({(status, b"" if status != 200 else body) for status, _, body in answers}) > 1:
                    differing.append(path)
        for each in own:
            each.close()
        return differing


class Probe:
    """Asks /livez and /readyz four times a second, and keeps what they answer."""

    def __init__(self, server):
        self.server, self.ready, self.alive = server, [], collections.Counter()
        self.tasks = [asyncio.ensure_future(self.watch(path)) for path in ("/livez", "/readyz")]

    async def watch(self, path):
        while True:
            own = Connection(Targets(self.server.base), is_fresh=True)
            try:
                async with asyncio.timeout(5):
                    status, _, body = await own.call("GET", path)
                problem = json.loads(body) if body[:1] == b"{" else {}
                word = f"{status} {problem.get('check', '')}".strip() if status != 200 else "200"
            except (OSError, EOFError, TimeoutError) as error:
                word = type(error).__name__
            own.close()
            if path == "/livez":
                # A process that does not run cannot answer.
                self.alive[word if self.server.is_running() else "down"] += 1
            else:
                self.ready.append((time.monotonic(), word))
            await asyncio.sleep(0.25)

    def stop(self):
        for task in self.tasks:
            task.cancel()

    def checks(self, begin, end):
        """What /readyz answered between two moments, in the order of its first time."""
        return list(dict.fromkeys(word for moment, word in self.ready if begin <= moment <= end))
