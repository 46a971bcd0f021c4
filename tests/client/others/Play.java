// Two guests play a game, have it analysed and try what is not allowed, through a client that was generated from the OpenAPI document.
//
//   java Play BASE_URL [newer]   newer: the answers have words, effects and fields that the document does not name

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Play {
  static boolean isNewer;

  record Guest(UUID id, ApiClient client) {}

  public static void main(String[] arguments) throws Exception {
    isNewer = arguments.length > 1 && arguments[1].equals("newer");
    Guest ana = guest(arguments[0], "Ana"), bo = guest(arguments[0], "Bo");
    CreateGame made = new CreateGame().variant("kalah").side(SideChoice.SOUTH).options(Map.of("pits", 3, "seeds", 2));
    UUID id = new GamesApi(ana.client).createGame(made, null).getId();
    Game game = new GamesApi(bo.client).joinGame(id, null, new JoinGame());
    expect(game.getOpponent().getType().equals(word("open", "type")), "the opponent has a type");

    try {
      new MovesApi(ana.client).playMove(id, new PlayMove().ply(1).move("pass"), null);
      throw new IllegalStateException("an illegal move was not refused");
    } catch (ApiException failure) {
      Problem problem = ana.client.getObjectMapper().readValue(failure.getResponseBody(), Problem.class);
      expect(failure.getCode() == 422 && problem.getCode().equals(word("illegal_move", "code")), problem.toString());
      expect(problem.getReason().equals(word("no_pass", "reason")), problem.toString());
    }

    Set<String> effects = new HashSet<>();
    while (game.getStatus().equals("active")) {
      Player player = game.getTurn() == Side.SOUTH ? game.getSeats().getSouth() : game.getSeats().getNorth();
      Guest mover = player.getId().equals(ana.id) ? ana : bo;
      String move = game.getLegalMoves().get(game.getPly() * 7 % game.getLegalMoves().size());
      PlayedMove played = new MovesApi(mover.client).playMove(id, new PlayMove().ply(game.getPly() + 1).move(move), null);
      played.getMove().getEffects().forEach(effect -> effects.add(effect.getType()));
      game = played.getGame();
    }
    expect(game.getStatus().equals(word("finished", "status")) && game.getResult() != null, game.toString());
    expect(effects.contains("sow") && effects.contains("newer_effect") == isNewer, effects.toString());
    EventPage events = new EventsApi(ana.client).listEvents(id, null, null, null, null, null, null);
    boolean isUnknown = events.getItems().stream().anyMatch(event -> event.getType().equals("newer_event"));
    expect(events.getItems().get(0).getType().equals("created") && isUnknown == isNewer, events.toString());

    RecordsApi records = new RecordsApi(ana.client);
    AnalysisStatus status = records.analyseGame(id, Map.of());
    long begun = System.nanoTime();
    while (status.getAnalysis() == null) {
      expect(System.nanoTime() - begun < 120_000_000_000L, status.toString());
      Thread.sleep(200);
      status = records.getAnalysis(id, null);
    }
    var plies = status.getAnalysis().getPlies();
    expect(plies.size() == game.getPly(), "every ply is judged");
    expect(plies.stream().allMatch(ply -> ply.getPropertyClass().equals("newer_class")) == isNewer, plies.toString());
    System.out.println((isNewer ? "newer: " : "today: ") + game.getPly() + " plies, " + game.getPosition());
  }

  static Guest guest(String base, String name) throws ApiException {
    TokenSet made = new PlayersApi(client(base)).createPlayer(null, new CreatePlayer().name(name));
    expect(made.getPlayer().getKind().equals(word("guest", "kind")), made.getPlayer().toString());
    ApiClient client = client(base);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + made.getAccessToken()));
    return new Guest(made.getPlayer().getId(), client);
  }

  static ApiClient client(String base) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(base);
    return client;
  }

  static String word(String known, String name) {
    return isNewer ? "newer_" + name : known;
  }

  static void expect(boolean isSo, String otherwise) {
    if (!isSo) throw new IllegalStateException(otherwise);
  }
}
