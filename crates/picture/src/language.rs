//! The languages of pictures, and the words of each. Knows no picture: `words` makes sentences of them.

/// A language of the words in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English.
    En,
    /// German.
    De,
    /// French.
    Fr,
    /// Spanish.
    Es,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 4] = [Self::En, Self::De, Self::Fr, Self::Es];

    /// The words of the language.
    pub(crate) fn words(self) -> &'static Words {
        match self {
            Self::En => &EN,
            Self::De => &DE,
            Self::Fr => &FR,
            Self::Es => &ES,
        }
    }
}

/// A text with values in its places, `{0}` and so on. A value is never searched for places.
pub(crate) fn fill(text: &str, values: &[&str]) -> String {
    let mut filled = String::with_capacity(text.len() + 16);
    let mut parts = text.split('{');
    filled.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (place, rest) = part.split_once('}').unwrap_or((part, ""));
        let value = place.parse::<usize>().ok().and_then(|place| values.get(place));
        filled.push_str(value.copied().unwrap_or_default());
        filled.push_str(rest);
    }
    filled
}

impl Words {
    /// The word for the reason why a game ended. A reason without one is named by the word of the API.
    pub(crate) fn reason(&self, word: &str) -> String {
        let known = self.reasons.iter().find(|(known, _)| *known == word);
        known.map_or_else(|| word.replace('_', " "), |(_, text)| (*text).to_owned())
    }
}

/// The words of a language. In a text `{0}` is the first value, `{1}` the second.
pub(crate) struct Words {
    /// The tag of the language (BCP 47).
    pub(crate) tag: &'static str,
    /// The name of a side.
    pub(crate) south: &'static str,
    /// The name of the other side.
    pub(crate) north: &'static str,
    /// The mark of a player who is a guest.
    pub(crate) guest: &'static str,
    /// The mark of a player who is known from an imported game only.
    pub(crate) imported: &'static str,
    /// The mark of the second person at one device.
    pub(crate) hotseat: &'static str,
    /// The game and its players.
    pub(crate) players: &'static str,
    /// A title at the opening.
    pub(crate) title_at_opening: &'static str,
    /// A title after a ply.
    pub(crate) title_after_ply: &'static str,
    /// Where a row lies.
    pub(crate) at_bottom: &'static str,
    /// Where the other row lies.
    pub(crate) at_top: &'static str,
    /// A pit that is out of the round.
    pub(crate) burnt: &'static str,
    /// A row: its label, where it lies, its pits, its store.
    pub(crate) row: &'static str,
    /// Two rows of a side: its label, where they lie, its pits, its reserve.
    pub(crate) rows: &'static str,
    /// A pit that is an owned house.
    pub(crate) house: &'static str,
    /// A pit that is blocked.
    pub(crate) blocked: &'static str,
    /// A pit that the other side has won.
    pub(crate) tuzdyk: &'static str,
    /// A choice inside a turn, from the seeds of a pit.
    pub(crate) goes_on: &'static str,
    /// The same with seeds in the hand.
    pub(crate) goes_on_with: &'static str,
    /// The round of a match, as a sentence.
    pub(crate) round: &'static str,
    /// The same in the caption.
    pub(crate) in_round: &'static str,
    /// The opening in the caption.
    pub(crate) at_opening: &'static str,
    /// A ply, in the caption and in lists.
    pub(crate) at_ply: &'static str,
    /// The last move in the caption.
    pub(crate) with_move: &'static str,
    /// Beside the name of the player who is to move.
    pub(crate) to_move: &'static str,
    /// Beside the name of the winner.
    pub(crate) won: &'static str,
    /// Beside the names after a draw.
    pub(crate) draw: &'static str,
    /// Beside a seat that is free.
    pub(crate) free_seat: &'static str,
    /// Beside the names of a game without a result.
    pub(crate) aborted: &'static str,
    /// The last move and its player.
    pub(crate) last_move: &'static str,
    /// One captured seed.
    pub(crate) captured_one: &'static str,
    /// Captured seeds.
    pub(crate) captured: &'static str,
    /// The player moves again.
    pub(crate) another_turn: &'static str,
    /// The score of a round that is over.
    pub(crate) round_over: &'static str,
    /// The status of a game in play.
    pub(crate) is_to_move: &'static str,
    /// The status of a game that was won.
    pub(crate) has_won: &'static str,
    /// The status of a drawn game.
    pub(crate) is_drawn: &'static str,
    /// The status of an open game.
    pub(crate) is_open: &'static str,
    /// The status of a game without a result.
    pub(crate) is_aborted: &'static str,
    /// The title of a graph of stores.
    pub(crate) leads: &'static str,
    /// The title of a graph of values.
    pub(crate) values: &'static str,
    /// Which side a part of a graph of stores is good for.
    pub(crate) ahead: &'static str,
    /// The same of values.
    pub(crate) better: &'static str,
    /// The unit along the graph, short.
    pub(crate) ply: &'static str,
    /// The key of a mark.
    pub(crate) mistake: &'static str,
    /// The key of the other mark.
    pub(crate) blunder: &'static str,
    /// The stores in the end.
    pub(crate) has_seeds: &'static str,
    /// The largest lead of a player.
    pub(crate) was_ahead: &'static str,
    /// A player without a lead.
    pub(crate) was_never_ahead: &'static str,
    /// What a value is.
    pub(crate) value_means: &'static str,
    /// The largest value for a player.
    pub(crate) stood_better: &'static str,
    /// A player who never stood better.
    pub(crate) never_stood_better: &'static str,
    /// Later plies without a value.
    pub(crate) is_not_analysed: &'static str,
    /// How the marks of both players differ.
    pub(crate) marks_mean: &'static str,
    /// One mistake of a player.
    pub(crate) made_a_mistake: &'static str,
    /// Mistakes of a player.
    pub(crate) made_mistakes: &'static str,
    /// One blunder of a player.
    pub(crate) made_a_blunder: &'static str,
    /// Blunders of a player.
    pub(crate) made_blunders: &'static str,
    /// After a list that is cut.
    pub(crate) and_more: &'static str,
    /// The sign before a fraction.
    pub(crate) decimal: &'static str,
    /// The reasons for the end of a game, by the words of the API, in parentheses.
    reasons: [(&'static str, &'static str); 15],
}

static EN: Words = Words {
    tag: "en",
    south: "South",
    north: "North",
    guest: "guest",
    imported: "imported",
    hotseat: "hotseat",
    players: "{0}: {1} against {2}",
    title_at_opening: "{0}, the opening",
    title_after_ply: "{0} after ply {1}",
    at_bottom: "at the bottom",
    at_top: "at the top",
    burnt: "{0} burnt",
    row: "{0}, {1}: {2}, store {3}.",
    rows: "{0}, {1}: {2}, reserve {3}.",
    house: "{0} house",
    blocked: "{0} blocked",
    tuzdyk: "{0} tuzdyk",
    goes_on: "The turn may go on from {0}.",
    goes_on_with: "The turn may go on from {0} with {1} seeds.",
    round: "Round {0}.",
    in_round: "round {0}",
    at_opening: "the opening",
    at_ply: "ply {0}",
    with_move: "last move {0}",
    to_move: "to move",
    won: "won",
    draw: "draw",
    free_seat: "free seat",
    aborted: "aborted",
    last_move: "Last move: {0} by {1}",
    captured_one: "1 seed captured from {0}",
    captured: "{1} seeds captured from {0}",
    another_turn: "another turn",
    round_over: "the round is over {0} to {1}",
    is_to_move: "{0} to move.",
    has_won: "The game is over. {0} won{1}.",
    is_drawn: "The game is over. A draw{0}.",
    is_open: "Waits for an opponent.",
    is_aborted: "The game ended without a result.",
    leads: "{0}, seeds ahead by ply",
    values: "{0}, value by ply",
    ahead: "{0} ahead",
    better: "better for {0}",
    ply: "ply",
    mistake: "mistake",
    blunder: "blunder",
    has_seeds: "After ply {0}: {1} has {2} seeds, {3} {4}.",
    was_ahead: "{0} was ahead by {1} at most, after ply {2}.",
    was_never_ahead: "{0} was never ahead.",
    value_means: "The value is the margin at the end by best play, as an engine judges it.",
    stood_better: "{0} stood better by {1} at most, after ply {2}.",
    never_stood_better: "{0} never stood better.",
    is_not_analysed: "Plies after {0} are not analysed.",
    marks_mean: "Marks of {0} are circles, those of {1} diamonds; a mistake is hollow, a blunder filled.",
    made_a_mistake: "{0} made a mistake: {1}.",
    made_mistakes: "{0} made {2} mistakes: {1}.",
    made_a_blunder: "{0} made a blunder: {1}.",
    made_blunders: "{0} made {2} blunders: {1}.",
    and_more: ", and more",
    decimal: ".",
    reasons: [
        ("side_empty", "side empty"),
        ("no_move", "no move"),
        ("no_feeding_move", "no feeding move"),
        ("majority", "majority"),
        ("repetition", "repetition"),
        ("agreement", "agreement"),
        ("grand_slam_forfeit", "grand slam forfeit"),
        ("front_empty", "front row empty"),
        ("two_heads", "two heads"),
        ("akakyala", "akakyala"),
        ("endless_move", "endless sowing"),
        ("resignation", "resignation"),
        ("timeout", "timeout"),
        ("ply_limit", "ply limit"),
        ("unknown", "unknown"),
    ],
};

static DE: Words = Words {
    tag: "de",
    south: "Süd",
    north: "Nord",
    guest: "Gast",
    imported: "importiert",
    hotseat: "am selben Gerät",
    players: "{0}: {1} gegen {2}",
    title_at_opening: "{0}, Anfangsstellung",
    title_after_ply: "{0} nach Zug {1}",
    at_bottom: "unten",
    at_top: "oben",
    burnt: "{0} geschlossen",
    row: "{0}, {1}: {2}, Gewinnmulde {3}.",
    rows: "{0}, {1}: {2}, Vorrat {3}.",
    house: "{0} Haus",
    blocked: "{0} gesperrt",
    tuzdyk: "{0} tuzdyk",
    goes_on: "Der Zug kann von {0} weitergehen.",
    goes_on_with: "Der Zug kann von {0} mit {1} Samen weitergehen.",
    round: "Runde {0}.",
    in_round: "Runde {0}",
    at_opening: "Anfangsstellung",
    at_ply: "Zug {0}",
    with_move: "letzter Zug {0}",
    to_move: "am Zug",
    won: "gewonnen",
    draw: "unentschieden",
    free_seat: "freier Platz",
    aborted: "abgebrochen",
    last_move: "Letzter Zug: {0} von {1}",
    captured_one: "1 Samen aus {0} geschlagen",
    captured: "{1} Samen aus {0} geschlagen",
    another_turn: "noch ein Zug",
    round_over: "die Runde endet {0} zu {1}",
    is_to_move: "{0} ist am Zug.",
    has_won: "Das Spiel ist aus. {0} hat gewonnen{1}.",
    is_drawn: "Das Spiel ist aus. Unentschieden{0}.",
    is_open: "Wartet auf einen Gegner.",
    is_aborted: "Das Spiel endete ohne Ergebnis.",
    leads: "{0}, Vorsprung nach Zügen",
    values: "{0}, Wert nach Zügen",
    ahead: "{0} vorn",
    better: "besser für {0}",
    ply: "Zug",
    mistake: "Fehler",
    blunder: "Patzer",
    has_seeds: "Nach Zug {0}: {1} hat {2} Samen, {3} {4}.",
    was_ahead: "{0} lag höchstens um {1} vorn, nach Zug {2}.",
    was_never_ahead: "{0} lag nie vorn.",
    value_means: "Der Wert ist der Abstand am Ende bei bestem Spiel, wie ihn ein Programm beurteilt.",
    stood_better: "{0} stand höchstens um {1} besser, nach Zug {2}.",
    never_stood_better: "{0} stand nie besser.",
    is_not_analysed: "Züge nach {0} sind nicht analysiert.",
    marks_mean: "Zeichen von {0} sind Kreise, die von {1} Rauten; ein Fehler ist hohl, ein Patzer gefüllt.",
    made_a_mistake: "{0} machte einen Fehler: {1}.",
    made_mistakes: "{0} machte {2} Fehler: {1}.",
    made_a_blunder: "{0} machte einen Patzer: {1}.",
    made_blunders: "{0} machte {2} Patzer: {1}.",
    and_more: ", und weitere",
    decimal: ",",
    reasons: [
        ("side_empty", "eine Reihe war leer"),
        ("no_move", "kein Zug war möglich"),
        ("no_feeding_move", "kein Zug konnte die andere Reihe füllen"),
        ("majority", "mehr als die Hälfte der Samen"),
        ("repetition", "Wiederholung"),
        ("agreement", "Einigung"),
        ("grand_slam_forfeit", "alle Samen geschlagen"),
        ("front_empty", "vordere Reihe leer"),
        ("two_heads", "an beiden Enden geschlagen"),
        ("akakyala", "Akakyala"),
        ("endless_move", "endloses Säen"),
        ("resignation", "Aufgabe"),
        ("timeout", "Zeitüberschreitung"),
        ("ply_limit", "Zuggrenze"),
        ("unknown", "unbekannt"),
    ],
};

static FR: Words = Words {
    tag: "fr",
    south: "Sud",
    north: "Nord",
    guest: "invité",
    imported: "importé",
    hotseat: "même appareil",
    players: "{0} : {1} contre {2}",
    title_at_opening: "{0}, position initiale",
    title_after_ply: "{0} après le coup {1}",
    at_bottom: "en bas",
    at_top: "en haut",
    burnt: "{0} brûlé",
    row: "{0}, {1} : {2}, grenier {3}.",
    rows: "{0}, {1} : {2}, réserve {3}.",
    house: "{0} maison",
    blocked: "{0} bloqué",
    tuzdyk: "{0} tuzdyk",
    goes_on: "Le tour peut continuer depuis {0}.",
    goes_on_with: "Le tour peut continuer depuis {0} avec {1} graines.",
    round: "Manche {0}.",
    in_round: "manche {0}",
    at_opening: "position initiale",
    at_ply: "coup {0}",
    with_move: "dernier coup {0}",
    to_move: "au trait",
    won: "gagne",
    draw: "nulle",
    free_seat: "place libre",
    aborted: "interrompue",
    last_move: "Dernier coup : {0} par {1}",
    captured_one: "1 graine prise en {0}",
    captured: "{1} graines prises en {0}",
    another_turn: "rejoue",
    round_over: "la manche se termine {0} à {1}",
    is_to_move: "Au tour de {0}.",
    has_won: "La partie est finie. {0} gagne{1}.",
    is_drawn: "La partie est finie. Match nul{0}.",
    is_open: "Attend un adversaire.",
    is_aborted: "La partie s’est terminée sans résultat.",
    leads: "{0}, avance coup par coup",
    values: "{0}, valeur coup par coup",
    ahead: "{0} mène",
    better: "mieux pour {0}",
    ply: "coup",
    mistake: "erreur",
    blunder: "gaffe",
    has_seeds: "Après le coup {0} : {1} a {2} graines, {3} {4}.",
    was_ahead: "{0} a mené de {1} au plus, après le coup {2}.",
    was_never_ahead: "{0} n’a jamais mené.",
    value_means: "La valeur est l’écart final avec le meilleur jeu, selon un moteur.",
    stood_better: "{0} a été mieux de {1} au plus, après le coup {2}.",
    never_stood_better: "{0} n’a jamais été mieux.",
    is_not_analysed: "Les coups après {0} ne sont pas analysés.",
    marks_mean: "Les marques de {0} sont des cercles, celles de {1} des losanges ; une erreur est creuse, une gaffe pleine.",
    made_a_mistake: "{0} a fait une erreur : {1}.",
    made_mistakes: "{0} a fait {2} erreurs : {1}.",
    made_a_blunder: "{0} a fait une gaffe : {1}.",
    made_blunders: "{0} a fait {2} gaffes : {1}.",
    and_more: ", et d’autres",
    decimal: ",",
    reasons: [
        ("side_empty", "une rangée vide"),
        ("no_move", "plus de coup possible"),
        ("no_feeding_move", "impossible de nourrir l’adversaire"),
        ("majority", "plus de la moitié des graines"),
        ("repetition", "répétition"),
        ("agreement", "accord"),
        ("grand_slam_forfeit", "toutes les graines prises"),
        ("front_empty", "rangée avant vide"),
        ("two_heads", "prises aux deux bouts"),
        ("akakyala", "akakyala"),
        ("endless_move", "semis sans fin"),
        ("resignation", "abandon"),
        ("timeout", "temps écoulé"),
        ("ply_limit", "limite de coups"),
        ("unknown", "inconnu"),
    ],
};

static ES: Words = Words {
    tag: "es",
    south: "Sur",
    north: "Norte",
    guest: "invitado",
    imported: "importado",
    hotseat: "mismo dispositivo",
    players: "{0}: {1} contra {2}",
    title_at_opening: "{0}, posición inicial",
    title_after_ply: "{0} tras la jugada {1}",
    at_bottom: "abajo",
    at_top: "arriba",
    burnt: "{0} quemado",
    row: "{0}, {1}: {2}, granero {3}.",
    rows: "{0}, {1}: {2}, reserva {3}.",
    house: "{0} casa",
    blocked: "{0} bloqueado",
    tuzdyk: "{0} tuzdyk",
    goes_on: "El turno puede seguir desde {0}.",
    goes_on_with: "El turno puede seguir desde {0} con {1} semillas.",
    round: "Ronda {0}.",
    in_round: "ronda {0}",
    at_opening: "posición inicial",
    at_ply: "jugada {0}",
    with_move: "última jugada {0}",
    to_move: "le toca",
    won: "gana",
    draw: "empate",
    free_seat: "sitio libre",
    aborted: "anulada",
    last_move: "Última jugada: {0} de {1}",
    captured_one: "1 semilla capturada de {0}",
    captured: "{1} semillas capturadas de {0}",
    another_turn: "otro turno",
    round_over: "la ronda termina {0} a {1}",
    is_to_move: "Le toca a {0}.",
    has_won: "La partida ha terminado. Gana {0}{1}.",
    is_drawn: "La partida ha terminado. Empate{0}.",
    is_open: "Espera a un rival.",
    is_aborted: "La partida terminó sin resultado.",
    leads: "{0}, ventaja jugada a jugada",
    values: "{0}, valor jugada a jugada",
    ahead: "{0} delante",
    better: "mejor para {0}",
    ply: "jug.",
    mistake: "error",
    blunder: "grave",
    has_seeds: "Tras la jugada {0}: {1} tiene {2} semillas, {3} {4}.",
    was_ahead: "{0} llevó una ventaja máxima de {1}, tras la jugada {2}.",
    was_never_ahead: "{0} nunca estuvo delante.",
    value_means: "El valor es la diferencia final con el mejor juego, según un motor.",
    stood_better: "{0} estuvo mejor por {1} como máximo, tras la jugada {2}.",
    never_stood_better: "{0} nunca estuvo mejor.",
    is_not_analysed: "Las jugadas tras la {0} no están analizadas.",
    marks_mean: "Las marcas de {0} son círculos, las de {1} rombos; un error es hueco, un error grave relleno.",
    made_a_mistake: "{0} cometió un error: {1}.",
    made_mistakes: "{0} cometió {2} errores: {1}.",
    made_a_blunder: "{0} cometió un error grave: {1}.",
    made_blunders: "{0} cometió {2} errores graves: {1}.",
    and_more: ", y más",
    decimal: ",",
    reasons: [
        ("side_empty", "una fila vacía"),
        ("no_move", "sin jugada posible"),
        ("no_feeding_move", "imposible alimentar al rival"),
        ("majority", "más de la mitad de las semillas"),
        ("repetition", "repetición"),
        ("agreement", "acuerdo"),
        ("grand_slam_forfeit", "todas las semillas capturadas"),
        ("front_empty", "fila delantera vacía"),
        ("two_heads", "capturas en ambos extremos"),
        ("akakyala", "akakyala"),
        ("endless_move", "siembra sin fin"),
        ("resignation", "abandono"),
        ("timeout", "tiempo agotado"),
        ("ply_limit", "límite de jugadas"),
        ("unknown", "desconocido"),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_filled_in_once() {
        assert_eq!(fill("{1} of {0}.", &["{1}", "a"]), "a of {1}.");
        assert_eq!(fill("none", &["a"]), "none");
        assert_eq!(fill("{7}|{x}|{", &["a"]), "||");
    }
}
