// Two guests play a game, have it analysed and try what is not allowed, through a client that was generated from the OpenAPI document.
//
//   PlayKt BASE_URL [newer]   newer: the answers have words, effects and fields that the document does not name

import java.util.UUID
import okhttp3.OkHttpClient
import org.openapitools.client.apis.*
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.*

lateinit var base: String
var isNewer = false

// One client for all, as OkHttp advises: it has the connections and the threads.
val http = OkHttpClient()

class Guest(val id: UUID, token: String) {
    val games = GamesApi(base, http).apply { accessTokenProvider = { token } }
    val moves = MovesApi(base, http).apply { accessTokenProvider = { token } }
    val events = EventsApi(base, http).apply { accessTokenProvider = { token } }
    val records = RecordsApi(base, http).apply { accessTokenProvider = { token } }
}

fun main(arguments: Array<String>) {
    base = arguments[0]
    isNewer = arguments.getOrNull(1) == "newer"
    val (ana, bo) = guest("Ana") to guest("Bo")
    val new = CreateGame(variant = "kalah", side = SideChoice.south, options = mapOf("pits" to 3, "seeds" to 2))
    val id = ana.games.createGame(new).id
    val started = bo.games.joinGame(id)
    check(started.opponent.type == word("open", "type")) { started }

    val problem = refused(ana, id, PlayMove(ply = 1, move = "pass"))
    check(problem.code == word("illegal_move", "code") && problem.reason == word("no_pass", "reason")) { problem }
    check(problem.legalMoves == started.legalMoves) { problem }

    val finished = playToTheEnd(started, listOf(ana, bo).associateBy { it.id })
    check(finished.status == word("finished", "status") && finished.result != null) { finished }
    val events = ana.events.listEvents(id).items.map { it.type }
    check(events.take(3) == listOf("created", "joined", "moved") && ("newer_event" in events) == isNewer) { events }

    var status = ana.records.analyseGame(id)
    val begun = System.nanoTime()
    while (status.analysis == null) {
        check(System.nanoTime() - begun < 120_000_000_000) { status }
        Thread.sleep(200)
        status = ana.records.getAnalysis(id)
    }
    val plies = status.analysis!!.plies
    check(plies.size == finished.ply && plies.all { it.propertyClass == "newer_class" } == isNewer) { plies }
    println("${if (isNewer) "newer" else "today"}: ${finished.ply} plies, ${finished.position}")
}

fun guest(name: String): Guest {
    val made = PlayersApi(base, http).createPlayer(createPlayer = CreatePlayer(name = name))
    check(made.player.kind == word("guest", "kind")) { made.player }
    return Guest(made.player.id, made.accessToken)
}

// Sends a move that is refused, and returns the failure.
fun refused(guest: Guest, id: UUID, move: PlayMove): Problem {
    try {
        guest.moves.playMove(id, move)
    } catch (failure: ClientException) {
        check(failure.statusCode == 422) { failure }
        return Serializer.gson.fromJson((failure.response as ClientError<*>).body as String, Problem::class.java)
    }
    error("an illegal move was not refused")
}

// Plays some legal move after the other.
fun playToTheEnd(started: Game, players: Map<UUID, Guest>): Game {
    var game = started
    val effects = mutableSetOf<String>()
    while (game.status == "active") {
        val player = if (game.turn == Side.south) game.seats.south else game.seats.north
        val move = PlayMove(ply = game.ply + 1, move = game.legalMoves[game.ply * 7 % game.legalMoves.size])
        val played = players.getValue(player!!.id).moves.playMove(game.id, move)
        effects += played.move.effects.map { it.type }
        game = played.game
    }
    check(effects.containsAll(listOf("lift", "sow")) && ("newer_effect" in effects) == isNewer) { effects }
    return game
}

fun word(known: String, name: String) = if (isNewer) "newer_$name" else known
