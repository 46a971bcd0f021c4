"""The attacks of abuse.py: each is a list of coroutines that run until they are cancelled, and count the answers by status.

`game` is the id of the longest game, `honest` the name of the honest player's account.

    attacks.py ATTACK GAME HONEST

runs one until SIGTERM, and prints what the server answered. It is a process of its own, because the honest player's times would contain
those of the attackers otherwise.
"""

import asyncio
import contextlib
import json
import os
import random
import signal
import sys

from client import Connection

# One address with more than its share, beside those of `addresses`.
CROWD = "127.1.9.9"
# Together as many plies as a guest may import.
IMPORTED_GAMES = 5
IMPORTED_PLIES = 2000
GUESTS = 300
# The bytes that a client of a slow network takes at once.
WINDOW = 4096
WEBHOOKS_OF_A_GUEST = 10


def addresses(count):
    return [f"127.1.{n // 200}.{n % 200 + 1}" for n in range(count)]


def count(calls, status):
    calls[status] = calls.get(status, 0) + 1


async def call(own, calls, *arguments, **options):
    """One call; its status and its body. Waits a little after a refusal; 0 is a connection that was cut."""
    try:
        status, body = await own.call(*arguments, **options)
    except (OSError, asyncio.IncompleteReadError):
        own.close()
        status, body = 0, b""
    count(calls, status)
    if status in (0, 429, 503):
        await asyncio.sleep(0.05)
    return status, body


async def guest(own, calls):
    """A token of a new guest; waits until the limit of new players allows one."""
    while True:
        status, body = await call(own, calls, "POST", "/v1/players", body={})
        if status == 201:
            return json.loads(body)["access_token"]
        await asyncio.sleep(1)


async def repeat(address, paths, calls):
    own = Connection(address)
    while True:
        await call(own, calls, "GET", random.choice(paths))


def whole_games(game, honest, calls):
    """24 connections of one address, and 24 of as many, that verify, export and draw the longest game."""
    paths = [f"/v1/games/{game}/{what}" for what in ("verify", "export", "export?format=text", "graph.svg")]
    paths.append("/v1/games/export?limit=50")
    return [repeat(address, paths, calls) for address in [CROWD] * 24 + addresses(24)]


async def ask_and_read_nothing(address, path, calls):
    own = Connection(address)
    try:
        await own.open()
        # The kernel keeps little for a client with a small window.
        for _ in range(8):
            await own.send("GET", path)
        count(calls, "asked")
        await asyncio.sleep(3600)
    except OSError:
        count(calls, "cut")
    finally:
        own.close()


def unread_answers(game, honest, calls):
    """200 connections that ask for long answers and read none."""
    path = f"/v1/games/{game}/export"
    return [ask_and_read_nothing(address, path, calls) for address in [CROWD] * 100 + addresses(100)]


def faulty_bodies(game, honest, calls):
    """10 connections of one address, and 60 of as many, that send bodies of 4 and of 64 KiB with as many faults as these hold."""
    unknown = b"{" + b",".join(b'"%x":0' % n for n in range(480)) + b"}"
    wrong = b'{"events":[' + b",".join([b"0"] * 2040) + b"]}"
    late = b'{"moves":[' + b",".join([b'"C"'] * 16_000) + b",0]}"
    bodies = [unknown, wrong, late]

    async def sending(address):
        own = Connection(address)
        while True:
            path = random.choice(["/v1/variants/kalah/play", "/v1/tokens", "/v1/webhooks"])
            await call(own, calls, "POST", path, body=random.choice(bodies))

    return [sending(address) for address in [CROWD] * 10 + addresses(60)]


def unread_refusals(game, honest, calls):
    """2,000 connections of one address, 100 a second, that send names of 60,000 characters or lines of moves, and read no answer."""
    moves = json.dumps({"moves": ["C", "F", "a", "c"] * 40}).encode()
    path, bodies = "/v1/variants/congkak/play", [b'{"' + b"~" * 60_000 + b'":0}', moves]

    async def sending(n):
        own = Connection(CROWD, WINDOW)
        await asyncio.sleep(n / 100)
        try:
            await own.open()
            for _ in range(4):
                await own.send("POST", path, body=bodies[n % 2])
            count(calls, "asked")
            await asyncio.sleep(3600)
        except OSError:
            count(calls, "cut")
        finally:
            own.close()

    return [sending(n) for n in range(2000)]


def unfinished_bodies(game, honest, calls):
    """5,000 connections of ten addresses with bodies of 64 KiB whose end never comes. Every second one waits for an event meanwhile."""
    line = "POST /v1/variants/kalah/play HTTP/1.1\r\n"
    wait = f"GET /v1/games/{game}/events?after=999999 HTTP/1.1\r\nprefer: wait=50\r\n"
    rest = "host: x\r\ncontent-type: application/json\r\ncontent-length: 65536\r\n\r\n" + " " * 65_000

    async def stalling(n, address):
        while True:
            own = Connection(address)
            try:
                await own.open()
                own.writer.write((wait if n % 2 else line).encode() + rest.encode())
                status, _ = await own.receive()
                count(calls, status)
            except (OSError, asyncio.IncompleteReadError):
                count(calls, "cut")
            own.close()
            await asyncio.sleep(1)

    return [stalling(n, address) for address in addresses(10) for n in range(500)]


def idle_connections(game, honest, calls):
    """A crowd of connections of one address that send nothing after one call, and as many that wait."""

    async def idle(n):
        own = Connection(CROWD)
        await own.open()
        if n % 2:
            status, _ = await own.call("GET", "/livez")
        else:
            await own.send("GET", f"/v1/games/{game}/events?after=999999", headers="prefer: wait=50\r\n")
            status = "waits"
        count(calls, status)
        await asyncio.sleep(3600)

    return [idle(n) for n in range(800)]


def imports(game, honest, calls):
    """Guests of one address, and of 8, who import long games as fast as they may, and become new guests when they may no more."""
    moves = [{"move": "C"}, {"move": "takeback", "effects": [{"type": "takeback", "to_ply": 0}]}] * (IMPORTED_PLIES // 2)
    body = json.dumps([{"game": {"variant": "kalah"}, "moves": moves}] * IMPORTED_GAMES).encode()

    async def importing(address):
        own = Connection(address)
        while True:
            token, status = await guest(own, calls), 200
            while status != 409:
                status, answer = await call(own, calls, "POST", "/v1/games/import", token, body)
                if status == 200:
                    calls["games"] = calls.get("games", 0) + json.loads(answer)["imported"]

    return [importing(address) for address in [CROWD] * 8 + addresses(8)]


async def account(own, calls):
    """A token of a new account; of a guest, once the address may make no more."""
    body = {"name": f"Attacker {random.randrange(10**9)}", "password": "a long pass phrase"}
    status, answer = await call(own, calls, "POST", "/v1/players", body=body)
    return json.loads(answer)["access_token"] if status == 201 else await guest(own, calls)


def accounts(game, honest, calls):
    """Accounts and guests of one address who fill the disk: with games under keys that they abort, with notes, and with imports."""
    moves = [{"move": "C"}, {"move": "takeback", "effects": [{"type": "takeback", "to_ply": 0}]}] * (IMPORTED_PLIES // 2)
    imported = json.dumps([{"game": {"variant": "kalah"}, "moves": moves}] * IMPORTED_GAMES).encode()
    text = "\U0010ffff" * 2000

    async def filling():
        own = Connection(CROWD)
        token, ply = await account(own, calls), 0
        await call(own, calls, "POST", "/v1/games/import", token, imported)
        while True:
            key = f"idempotency-key: {random.randrange(10**12)}\r\n"
            status, body = await call(own, calls, "POST", "/v1/games", token, {"variant": "omweso"}, headers=key)
            if status == 201:
                await call(own, calls, "POST", f"/v1/games/{json.loads(body)['id']}/abort", token)
            ply = (ply + 1) % 2000
            await call(own, calls, "PUT", f"/v1/games/{game}/notes/{ply}", token, {"text": text})

    return [filling() for _ in range(60)]


def sign_ins(game, honest, calls):
    """200 addresses that guess the password of the honest player's account."""

    async def guessing(address):
        own = Connection(address)
        while True:
            password = f"guess {random.randrange(10**9)}"
            body = {"grant_type": "password", "name": honest, "password": password}
            await call(own, calls, "POST", "/v1/tokens", body=body)

    return [guessing(address) for address in addresses(200)]


def strangers(game, honest, calls):
    """200 addresses, each of a /16 of its own, that sign in to accounts that do not exist."""

    async def guessing(n):
        own = Connection(f"127.{n + 2}.0.1")
        while True:
            body = {"grant_type": "password", "name": f"None {random.randrange(10**9)}", "password": "a long pass phrase"}
            await call(own, calls, "POST", "/v1/tokens", body=body)

    return [guessing(n) for n in range(200)]


def confirmations(game, honest, calls):
    """200 addresses with an account each, which has its right password compared by every call that takes one."""

    async def confirming(address):
        own, status = Connection(address), 0
        while status != 201:
            # A name whose answer was lost is taken.
            account = {"name": f"Thorough {random.randrange(10**9)}", "password": "correct horse"}
            status, body = await call(own, calls, "POST", "/v1/players", body=account)
        token = json.loads(body)["access_token"]
        while True:
            await call(own, calls, "POST", "/v1/me/recovery-code", token, {"current_password": "correct horse"})

    return [confirming(address) for address in addresses(200)]


async def answer_challenges_only(reader, writer):
    """An endpoint that proves that it wants notices, and then answers none of them."""
    # Cancelled at the end of the script, which streams would report.
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:"))
        message = json.loads(await reader.readexactly(length))
        if message["type"] == "webhook.challenge":
            answer = json.dumps({"challenge": message["data"]["challenge"]}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(answer) + answer)
            await writer.drain()
        else:
            await asyncio.sleep(3600)
    writer.close()


def webhooks(game, honest, calls):
    """Guests of 20 addresses with ten webhooks each, whose endpoints never answer a notice, and who play to be notified."""
    # Another host than the honest player's, as it would be.
    starting = asyncio.ensure_future(asyncio.start_server(answer_challenges_only, "127.0.0.2", 0))

    async def playing(address):
        endpoint = (await starting).sockets[0]
        own = Connection(address)
        token = await guest(own, calls)
        for _ in range(WEBHOOKS_OF_A_GUEST):
            body = {"url": f"http://127.0.0.2:{endpoint.getsockname()[1]}/"}
            await call(own, calls, "POST", "/v1/webhooks", token, body)
        while True:
            opponent = {"type": "self"}
            status, body = await call(own, calls, "POST", "/v1/games", token, {"variant": "kalah", "opponent": opponent})
            played = json.loads(body) if status == 201 else {"status": "none"}
            while played["status"] == "active":
                move = {"ply": played["ply"] + 1, "move": random.choice(played["legal_moves"])}
                status, body = await call(own, calls, "POST", f"/v1/games/{played['id']}/moves", token, move)
                if status == 201:
                    played = json.loads(body)["game"]

    return [playing(address) for address in addresses(20)]


def identities(game, honest, calls):
    """Guests of one address, up to 300, who read lists and games as fast as each of them may."""

    async def reading():
        own = Connection(CROWD)
        token = await guest(own, calls)
        while True:
            path = random.choice(["/v1/games?limit=50", f"/v1/games/{game}", "/v1/me/games"])
            await call(own, calls, "GET", path, token)

    return [reading() for _ in range(GUESTS)]


def ghosts(game, honest, calls):
    """Guests of one address who open games in the lobby and never play them, and five honest players who seek a game, and say whom they meet."""
    ghosts = set()

    async def opening():
        own = Connection(CROWD)
        while True:
            status, body = await call(own, calls, "POST", "/v1/players", body={})
            if status != 201:
                await asyncio.sleep(1)
                continue
            made = json.loads(body)
            ghosts.add(made["player"]["id"])
            status = 201
            while status == 201:
                status, _ = await call(own, calls, "POST", "/v1/games", made["access_token"], {"variant": "kalah"})
                calls["ghost games"] = calls.get("ghost games", 0) + (status == 201)

    async def seeking(address):
        own = Connection(address)
        token = await guest(own, calls)
        while True:
            status, body = await call(own, calls, "POST", "/v1/games/seek", token, {"variant": "kalah"})
            seats = json.loads(body)["seats"].values() if status == 200 else []
            met = ghosts.intersection(seat["id"] for seat in seats if seat)
            if met:
                count(calls, "seeks that met a ghost")
            elif all(seats):
                count(calls, "seeks that met a player" if seats else "seeks that opened a game")
            await asyncio.sleep(1)

    return [opening() for _ in range(8)] + [seeking(address) for address in addresses(5)]


def invitations(game, honest, calls):
    """Guests of one address who invite one victim as often as they may."""
    # The victim is made first, at another address.
    making = asyncio.ensure_future(Connection("127.1.8.8").json("POST", "/v1/players", body={}))

    async def inviting():
        own = Connection(CROWD)
        victim = (await asyncio.shield(making))["player"]["id"]
        body = {"variant": "kalah", "opponent": {"type": "player", "player_id": victim}}
        while True:
            token, status = await guest(own, calls), 201
            while status == 201:
                status, _ = await call(own, calls, "POST", "/v1/games", token, body)
                calls["invitations"] = calls.get("invitations", 0) + (status == 201)

    return [inviting() for _ in range(8)]


def yield_processors():
    """Attackers have machines of their own: here they run on what the server and the honest player leave."""
    os.nice(19)
    # Linux divides processors by session first.
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as group:
        group.write("19")


async def main(name, game, honest):
    calls, stopped = {}, asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    tasks = [asyncio.create_task(work) for work in ATTACKS[name](game, honest, calls)]
    await stopped.wait()
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    broken = [end for end in ended if isinstance(end, Exception)]
    print(calls, broken[:1] or "")


ATTACKS = {
    attack.__name__: attack
    for attack in (
        whole_games,
        unread_answers,
        faulty_bodies,
        unread_refusals,
        unfinished_bodies,
        idle_connections,
        imports,
        accounts,
        sign_ins,
        strangers,
        confirmations,
        webhooks,
        identities,
        ghosts,
        invitations,
    )
}

if __name__ == "__main__":
    yield_processors()
    asyncio.run(main(*sys.argv[1:]))
