"""Two guests play a game, have it analysed and try what is not allowed, through a client that was generated from the OpenAPI document.

    play.py BASE_URL [newer]   newer: the answers have words, effects and fields that the document does not name
"""

import sys
import time
from typing import TypeVar
from uuid import UUID

from mancala_client import AuthenticatedClient, Client
from mancala_client.api.events import list_events
from mancala_client.api.games import create_game, get_game, join_game
from mancala_client.api.moves import play_move
from mancala_client.api.players import create_player
from mancala_client.api.records import analyse_game, get_analysis
from mancala_client.models import (
    AnalysisStatus, CreateGame, CreateGameOptions, CreatePlayer, EventPage, Game, PlayedMove, PlayMove, Problem, SideChoice, TokenSet,
)
from mancala_client.types import Unset

T = TypeVar("T")

base_url = sys.argv[1]
is_newer = sys.argv[2:] == ["newer"]


def given(answer: T | Problem | None) -> T:
    """The answer that is no failure."""
    if answer is None or isinstance(answer, Problem):
        raise RuntimeError(f"refused: {answer}")
    return answer


def word(known: str, name: str) -> str:
    """A word as the server of today or of the future says it."""
    return f"newer_{name}" if is_newer else known


def guest(name: str) -> tuple[UUID, AuthenticatedClient]:
    made = create_player.sync(client=Client(base_url=base_url), body=CreatePlayer(name=name))
    tokens: TokenSet = given(made)
    assert tokens.player.kind == word("guest", "kind"), tokens.player
    return tokens.player.id, AuthenticatedClient(base_url=base_url, token=tokens.access_token)


def play(players: dict[UUID, AuthenticatedClient], game: Game) -> Game:
    effects: set[str] = set()
    while game.status == "active":
        assert game.turn is not None
        seat = getattr(game.seats, game.turn.value)
        move = PlayMove(ply=game.ply + 1, move=game.legal_moves[game.ply * 7 % len(game.legal_moves)])
        played: PlayedMove = given(play_move.sync(id=game.id, client=players[seat.id], body=move))
        effects |= {effect.type_ for effect in played.move.effects}
        game = played.game
    assert {"lift", "sow"} <= effects and ("newer_effect" in effects) == is_newer, effects
    return game


def main() -> None:
    (ana_id, ana), (bo_id, bo) = guest("Ana"), guest("Bo")
    options = CreateGameOptions.from_dict({"pits": 3, "seeds": 2})
    created: Game = given(create_game.sync(client=ana, body=CreateGame(variant="kalah", side=SideChoice.SOUTH, options=options)))
    started: Game = given(join_game.sync(id=created.id, client=bo))
    assert started.options.additional_properties["pits"] == 3 and started.opponent.type_ == word("open", "type")

    refused = play_move.sync(id=created.id, client=ana, body=PlayMove(ply=1, move="pass"))
    assert isinstance(refused, Problem) and refused.code == word("illegal_move", "code"), refused
    assert refused.reason == word("no_pass", "reason") and refused.legal_moves == started.legal_moves

    finished = play({ana_id: ana, bo_id: bo}, started)
    assert finished.status == word("finished", "status") and finished.result is not None
    assert is_newer == ("newer_field" in finished.additional_properties)
    events: EventPage = given(list_events.sync(id=created.id, client=ana))
    kinds = [event.type_ for event in events.items]
    assert kinds[:3] == ["created", "joined", "moved"] and ("newer_event" in kinds) == is_newer, kinds

    status: AnalysisStatus = given(analyse_game.sync(id=created.id, client=ana))
    deadline = time.monotonic() + 120
    while status.analysis is None:
        assert time.monotonic() < deadline, status
        time.sleep(0.2)
        status = given(get_analysis.sync(id=created.id, client=ana))
    plies = status.analysis.plies
    assert len(plies) == finished.ply and not isinstance(plies[0].class_, Unset)
    # The analysis is stored before the game's log tells of it.
    analysed: Game = given(get_game.sync(id=created.id, client=bo))
    while analysed.analysed_at is None:
        assert time.monotonic() < deadline, analysed
        time.sleep(0.2)
        analysed = given(get_game.sync(id=created.id, client=bo))
    print(f"{'newer' if is_newer else 'today'}: {finished.ply} plies, {finished.position}")


main()
