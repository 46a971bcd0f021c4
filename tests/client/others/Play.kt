// Two guests play a game through generated models, and see a failure. The calls are the JDK's: the generated ones need okhttp 4.
//
//   PlayKt BASE_URL [newer]   newer: the answers have words, effects and fields that the document does not name

import com.google.gson.Gson
import com.google.gson.GsonBuilder
import com.google.gson.JsonDeserializer
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.time.OffsetDateTime
import org.openapitools.client.models.*

val gson: Gson = GsonBuilder().registerTypeAdapter(
    OffsetDateTime::class.java, JsonDeserializer { json, _, _ -> OffsetDateTime.parse(json.asString) },
).create()
val http: HttpClient = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()

class Guest(val base: String, val token: String?) {
    inline fun <reified T> post(path: String, body: Any, expected: IntRange = 200..299): T {
        val request = HttpRequest.newBuilder(URI.create(base + path)).header("Content-Type", "application/json")
        if (token != null) request.header("Authorization", "Bearer $token")
        val sent = request.POST(HttpRequest.BodyPublishers.ofString(gson.toJson(body))).build()
        val answer = http.send(sent, HttpResponse.BodyHandlers.ofString())
        check(answer.statusCode() in expected) { answer.body() }
        return gson.fromJson(answer.body(), T::class.java)
    }
}

fun main(arguments: Array<String>) {
    val base = arguments[0]
    val isNewer = arguments.getOrNull(1) == "newer"
    fun word(known: String, name: String) = if (isNewer) "newer_$name" else known
    val made = listOf("Ana", "Bo").map { Guest(base, null).post<TokenSet>("/v1/players", CreatePlayer(name = it)) }
    check(made.all { it.player.kind == word("guest", "kind") })
    val guests = made.associate { it.player.id to Guest(base, it.accessToken) }
    val (ana, bo) = guests.values.toList()
    val new = CreateGame(variant = "kalah", side = SideChoice.south, options = mapOf("pits" to 3, "seeds" to 2))
    val id = ana.post<Game>("/v1/games", new).id
    var game = bo.post<Game>("/v1/games/$id/join", JoinGame())
    val problem = ana.post<Problem>("/v1/games/$id/moves", PlayMove(move = "pass", ply = 1), 422..422)
    check(problem.code == word("illegal_move", "code") && problem.reason == word("no_pass", "reason")) { problem }
    val effects = mutableSetOf<String>()
    while (game.status == "active") {
        val player = if (game.turn == Side.south) game.seats.south else game.seats.north
        val move = PlayMove(move = game.legalMoves[game.ply * 7 % game.legalMoves.size], ply = game.ply + 1)
        val played = guests.getValue(player!!.id).post<PlayedMove>("/v1/games/$id/moves", move)
        effects += played.move.effects.map { it.type }
        game = played.game
    }
    check(game.status == word("finished", "status") && game.result != null) { game }
    check("sow" in effects && ("newer_effect" in effects) == isNewer) { effects }
    println("${if (isNewer) "newer" else "today"}: ${game.ply} plies, ${game.position}")
}
