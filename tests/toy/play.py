"""Creates, plays, stores, replays, archives, exports, imports, draws, explores, searches and verifies a game of the toy.

    play.py FOLDER      with BASE_URL, DATABASE_URL and SERVER of .ci/with-server; files go to the folder
"""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

BASE = os.environ["BASE_URL"]
FOLDER = sys.argv[1]


def call(method: str, path: str, body: object = None, token: str | None = None, kind: str = "application/json") -> tuple[int, str, bytes]:
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": kind} if data is not None else {}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers, method=method)) as answer:
            return answer.status, answer.headers.get("Content-Type", ""), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get("Content-Type", ""), error.read()


def read(method: str, path: str, body: object = None, token: str | None = None, status: tuple[int, ...] = (200, 201)) -> dict:
    got, _, text = call(method, path, body, token)
    assert got in status, f"{method} {path}: {got} {text.decode()}"
    return json.loads(text)


def command(*words: str) -> str:
    run = subprocess.run([os.environ["SERVER"], *words], capture_output=True, text=True)
    assert run.returncode == 0, f"{words}: {run.returncode} {run.stderr}"
    return run.stdout


def guest(name: str) -> str:
    return read("POST", "/v1/players", {"name": name})["access_token"]


def create(token: str, **rest: object) -> dict:
    return read("POST", "/v1/games", {"variant": "toy", "side": "south", **rest}, token)


def play_to_the_end(game: dict, tokens: dict[str, str]) -> tuple[dict, set[str], set[str]]:
    """Plays moves that differ from ply to ply. Returns the game, the kinds of effects and the reasons of refusals."""
    effects: set[str] = set()
    reasons: set[str] = set()
    path = f"/v1/games/{game['id']}/moves"
    while game["status"] == "active":
        side = game["turn"]
        for letter in "ABCD":
            word = letter if side == "south" else letter.lower()
            if word not in game["legal_moves"]:
                refused = read("POST", path, {"ply": game["ply"] + 1, "move": word}, tokens[side], (422,))
                assert refused["code"] == "illegal_move", refused
                reasons.add(refused["reason"])
        word = game["legal_moves"][game["ply"] * 7 % len(game["legal_moves"])]
        played = read("POST", path, {"ply": game["ply"] + 1, "move": word}, tokens[side])
        for effect in played["move"]["effects"]:
            effects.add(effect["type"])
            if effect["type"] == "harvest":
                assert set(effect) == {"type", "pit", "side"} and effect["side"] == side, effect
        game = played["game"]
    return game, effects, reasons


def until(what: str, ask, seconds: int = 60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = ask()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"not seen in {seconds} s: {what}")


def check_catalogue() -> None:
    variants = {variant["name"] for variant in read("GET", "/v1/variants")["items"]}
    assert "toy" in variants, variants
    toy = read("GET", "/v1/variants/toy")
    assert toy["title"] == "Toy" and toy["presets"][0]["options"] == {"seeds": 3}, toy
    refused = read("POST", "/v1/games", {"variant": "toy", "options": {"seeds": 9}}, guest("Cy"), (422,))
    assert refused["errors"][0]["pointer"] == "/options/seeds", refused


def check_review(id: str, token: str, plies: int) -> None:
    """Draws, explores, searches and judges a finished game."""
    assert read("GET", f"/v1/games/{id}/verify", token=token)["is_sound"], "the game differs from its moves"
    assert read("GET", f"/v1/games/{id}/positions/3", token=token)["ply"] == 3
    for picture, kind in [("board.svg", "image/svg"), ("board.png", "image/png"), ("graph.svg", "image/svg"), ("graph.png", "image/png")]:
        status, content, data = call("GET", f"/v1/games/{id}/{picture}", token=token)
        assert status == 200 and content.startswith(kind) and len(data) > 1000, (picture, status, content)
    read("POST", f"/v1/games/{id}/analysis", token=token, status=(200, 202))
    analysis = until("the analysis is done", lambda: done(read("GET", f"/v1/games/{id}/analysis", token=token)), 120)
    assert len(analysis["plies"]) == plies, analysis
    explored = until("the explorer counts the game", lambda: counted(read("GET", "/v1/explorer?variant=toy&options=seeds%3D4")))
    assert explored["moves"], explored
    line = read("POST", "/v1/variants/toy/play", {"moves": ["A"]})
    assert [effect["type"] for effect in line["moves"][0]["effects"]] == ["lift", "sow", "sow", "sow", "capture", "harvest"], line


def done(analysis: dict) -> dict | None:
    return analysis["analysis"] if analysis["status"] == "done" else None


def counted(explored: dict) -> dict | None:
    return explored if explored["games"] else None


def main() -> None:
    check_catalogue()
    tokens = {"south": guest("Ana"), "north": guest("Bo")}
    opened = create(tokens["south"], options={"seeds": 4}, visibility="public")
    started = read("POST", f"/v1/games/{opened['id']}/join", {}, tokens["north"])
    game, effects, reasons = play_to_the_end(started, tokens)
    assert {"lift", "sow", "harvest", "sweep", "game_over"} <= effects, effects
    assert {"lone_seed", "empty_pit"} <= reasons, reasons
    id, plies = game["id"], game["ply"]
    print(f"toy: {plies} plies, {game['position']}, {sorted(effects)}, refused by {sorted(reasons)}")
    history = read("GET", f"/v1/games/{id}/moves?limit=100", token=tokens["south"])
    assert len(history["items"]) == plies, history
    check_review(id, tokens["south"], plies)

    practice = create(tokens["south"], opponent={"type": "computer", "level": 2})
    moved = read("POST", f"/v1/games/{practice['id']}/moves", {"ply": 1, "move": "A"}, tokens["south"])
    until("the computer answers", lambda: read("GET", f"/v1/games/{practice['id']}", token=tokens["south"])["ply"] > moved["game"]["ply"] - 1)

    status, _, record = call("GET", f"/v1/games/{id}/export?format=text", token=tokens["south"])
    assert status == 200 and b'[Variant "toy"]' in record, record
    status, _, imported = call("POST", "/v1/games/import", record, tokens["north"], "text/plain")
    assert status in (200, 201), imported
    print("imported:", imported.decode()[:200])

    command("verify")
    command("archive", "--older-than-days", "0")
    archived = read("GET", f"/v1/games/{id}/moves?limit=100", token=tokens["south"])
    assert archived == history, "an archived game has other moves"
    command("verify")
    command("export", f"{FOLDER}/games.jsonl")
    with open(f"{FOLDER}/games.jsonl", encoding="utf-8") as file:
        exported = [json.loads(line) for line in file]
    assert any(game["game"]["id"] == id and game["moves"] == history["items"] for game in exported), exported[:1]
    print("the toy was created, played, stored, archived, exported, imported, drawn, explored, searched and verified")


main()
