// Two guests play a game, have it analysed and try what is not allowed, through a client that was generated from the OpenAPI document.
//
//   Play BASE_URL [newer]   newer: the answers have words, effects and fields that the document does not name

import Foundation
import OpenAPIClient

typealias Api = OpenAPIClientAPIConfiguration

struct Failure: Error { let message: String }

@main
struct Play {
    static let base = CommandLine.arguments[1]
    static let isNewer = CommandLine.arguments.dropFirst(2).first == "newer"

    static func main() async throws {
        let ((anaId, ana), (boId, bo)) = (try await guest("Ana"), try await guest("Bo"))
        let new = CreateGame(options: ["pits": .int(3), "seeds": .int(2)], side: .south, variant: "kalah")
        let id = try await GamesAPI.createGame(createGame: new, apiConfiguration: ana).id
        let started = try await GamesAPI.joinGame(id: id, apiConfiguration: bo)
        try expect(started.opponent.type == word("open", "type"), "the opponent has a type")

        let problem = try await refused(ana, id, PlayMove(move: "pass", ply: 1))
        try expect(problem.code == word("illegal_move", "code") && problem.reason == word("no_pass", "reason"), "\(problem)")
        try expect(problem.legalMoves == started.legalMoves, "\(problem)")

        let finished = try await playToTheEnd(started, [anaId: ana, boId: bo])
        try expect(finished.status == word("finished", "status") && finished.result != nil, "\(finished)")
        let events = try await EventsAPI.listEvents(id: id, apiConfiguration: ana).items.map(\.type)
        try expect(events.prefix(3) == ["created", "joined", "moved"] && events.contains("newer_event") == isNewer, "\(events)")

        var status = try await RecordsAPI.analyseGame(id: id, apiConfiguration: ana)
        let deadline = Date(timeIntervalSinceNow: 120)
        while status.analysis == nil {
            try expect(Date() < deadline, "\(status)")
            try await Task.sleep(nanoseconds: 200_000_000)
            status = try await RecordsAPI.getAnalysis(id: id, apiConfiguration: ana)
        }
        let plies = status.analysis?.plies ?? []
        try expect(plies.count == finished.ply, "every ply is judged")
        try expect(plies.allSatisfy { $0._class == "newer_class" } == isNewer, "\(plies)")
        print("\(isNewer ? "newer" : "today"): \(finished.ply) plies, \(finished.position)")
    }

    static func guest(_ name: String) async throws -> (UUID, Api) {
        let anonymous = Api(basePath: base)
        let made = try await PlayersAPI.createPlayer(createPlayer: CreatePlayer(name: name), apiConfiguration: anonymous)
        try expect(made.player.kind == word("guest", "kind"), "\(made.player)")
        return (made.player.id, Api(basePath: base, customHeaders: ["Authorization": "Bearer \(made.accessToken)"]))
    }

    // Sends a move that is refused, and returns the failure.
    static func refused(_ api: Api, _ id: UUID, _ move: PlayMove) async throws -> Problem {
        do {
            _ = try await MovesAPI.playMove(id: id, playMove: move, apiConfiguration: api)
        } catch let ErrorResponse.error(status, body, _, _) {
            try expect(status == 422, "\(status)")
            return try api.codableHelper.decode(Problem.self, from: body ?? Data()).get()
        }
        throw Failure(message: "an illegal move was not refused")
    }

    // Plays some legal move after the other.
    static func playToTheEnd(_ started: Game, _ players: [UUID: Api]) async throws -> Game {
        var (game, effects) = (started, Set<String>())
        while game.status == "active" {
            let player = game.turn == .south ? game.seats.south : game.seats.north
            guard let player, let api = players[player.id] else { throw Failure(message: "\(game)") }
            let move = PlayMove(move: game.legalMoves[game.ply * 7 % game.legalMoves.count], ply: game.ply + 1)
            let played = try await MovesAPI.playMove(id: game.id, playMove: move, apiConfiguration: api)
            effects.formUnion(played.move.effects.map(\.type))
            game = played.game
        }
        try expect(effects.isSuperset(of: ["lift", "sow"]) && effects.contains("newer_effect") == isNewer, "\(effects)")
        return game
    }

    static func word(_ known: String, _ name: String) -> String { isNewer ? "newer_\(name)" : known }

    static func expect(_ isSo: Bool, _ otherwise: String) throws {
        if !isSo { throw Failure(message: otherwise) }
    }
}
