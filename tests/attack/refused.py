"""What refused bodies of 4 KiB cost the server, for each operation of the OpenAPI document that has a body.

    tests/attack/refused [OPERATION…]        all of them, or the named ones

Sends each operation bodies with many faults, and prints the worst: the time of the processor above that of a body with one fault,
in all threads of the server. Fails if one takes more than BOUND_US, which is for a release build: `SERVER` names it.
"""

import asyncio
import glob
import json
import os
import subprocess
import sys

from client import Connection

BOUND_US = float(os.environ.get("ATTACK_BOUND_US", "200"))
BODY_BYTES = 4096
# For a mean without noise of some microseconds, and for the worst again.
CALLS = 200
ID = "00000000-0000-4000-8000-000000000000"
VALUES = {"variant": "kalah", "ply": "1", "issuer": "google"}


def cpu_us():
    """The microseconds that all threads of the server have run."""
    threads = glob.glob(f"/proc/{os.environ['SERVER_PID']}/task/*/schedstat")
    return sum(int(open(thread).read().split()[0]) for thread in threads) / 1000


def filled(begin, item, end):
    """A body of at most BODY_BYTES with as many items as it holds."""
    items, length = [], len(begin) + len(end)
    while length + len(text := item(len(items))) + 1 <= BODY_BYTES:
        items.append(text)
        length += len(text) + 1
    return (begin + ",".join(items) + end).encode()


def name(n):
    """Names as short as possible."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return (name(n // 26 - 1) if n >= 26 else "") + letters[n % 26]


def fields(schema, schemas):
    """The fields of a schema: their names, and whether they hold lists, objects or texts."""
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
    for field, of in schema.get("properties", {}).items():
        while "$ref" in of:
            of = schemas[of["$ref"].rsplit("/", 1)[1]]
        types = of.get("type", "object")
        yield field, types if isinstance(types, list) else [types]


def bodies(schema, schemas):
    """Bodies with many faults, by what is wrong with them."""
    yield "unknown fields", filled("{", lambda n: f'"{name(n)}":0', "}")
    yield "nested lists", filled("{", lambda n: f'"{name(n)}":' + "[" * 100 + "]" * 100, "}")
    yield "long names", filled("{", lambda n: f'"{name(n)}{"~" * 50}":0', "}")
    yield "a name of blows", ('{"' + "~" * (BODY_BYTES - 6) + '":0}').encode()
    yield "a name of controls", ('{"' + "\\u0001" * (BODY_BYTES // 6 - 2) + '":0}').encode()
    for field, types in fields(schema, schemas):
        if "array" in types:
            for item in ("0", "[]", '"x"', "{}"):
                yield f"{field}: {item}", filled(f'{{"{field}":[', lambda _, item=item: item, "]}")
        if "object" in types:
            yield f"{field}: unknown", filled(f'{{"variant":"kalah","{field}":{{', lambda n: f'"{name(n)}":0', "}}")
            yield f"{field}: texts", filled(f'{{"variant":"kalah","{field}":{{', lambda n: f'"{name(n)}":""', "}}")
            yield f"{field}: lists", filled(f'{{"{field}":{{', lambda n: f'"{name(n)}":[]', "}}")
        if "string" in types:
            yield f"{field}: long", filled(f'{{"{field}":"', lambda _: "x" * 50, '"}')


async def cost_us(own, calls, operation, body):
    """The mean cost of a refusal, its status, and the length of the answer."""
    method, path, token = operation
    before = cpu_us()
    for _ in range(calls):
        status, answer = await own.call(method, path, token, body, headers="accept-encoding: gzip\r\n")
    return (cpu_us() - before) / calls, status, len(answer)


def made(command, database):
    """What a command of the server prints last: a key."""
    server = os.readlink(f"/proc/{os.environ['SERVER_PID']}/exe")
    environment = {**os.environ, "DATABASE_URL": database}
    printed = subprocess.run([server, *command], check=True, capture_output=True, text=True, env=environment).stdout
    return printed.split()[-1]


async def main(document, wanted):
    document, own, failed = json.load(open(document)), Connection(None), False
    account = {"name": "Refused", "password": "a long pass phrase"}
    token = (await own.json("POST", "/v1/players", body=account))["access_token"]
    keys = {"operators": made(["operators", "create", "attack"], os.environ["DATABASE_URL"]),
            "apps": made(["app", "create", "attack"], os.environ["DATABASE_URL"])}
    print(f"{'operation':28} {'of one fault':>12} {'worst':>7} {'above':>6} µs  {'answer':>6}  {'status':>6}  body")
    for path, item in document["paths"].items():
        for method, operation in item.items():
            of = operation["operationId"] if "operationId" in operation else ""
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None or of == "import_games" or wanted and of not in wanted:
                continue
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "path":
                    path = path.replace(f"{{{parameter['name']}}}", VALUES.get(parameter["name"], ID))
            call = method.upper(), path, keys.get(operation["tags"][0], token)
            base, status, _ = await cost_us(own, CALLS, call, b'{"?":0}')
            worst = (0, status, 0, "")
            for what, body in bodies(content["schema"], document["components"]["schemas"]):
                worst = max(worst, (*await cost_us(own, CALLS // 4, call, body), what))
                again = worst[3] == what and await cost_us(own, CALLS, call, body)
                worst = (*again, what) if again else worst
            print(f"{of:28} {base:12.0f} {worst[0]:7.0f} {worst[0] - base:6.0f}     {worst[2]:6}  {worst[1]:6}  {worst[3]}", flush=True)
            failed |= worst[0] - base > BOUND_US
    return failed


sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2:])))
