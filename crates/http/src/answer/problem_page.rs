//! Failures as pages for people, in the reader's language: one that has just happened, and the explanation of a code.

use askama::Template;
use mancala_texts::Language;

use super::code::Code;

/// The person who reads a page.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    pub language: Language,
    /// Whether the server has a web page to lead to.
    pub has_page: bool,
}

impl Reader {
    /// The menu above a page; `None` without a web page to lead to.
    pub fn menu(self) -> Option<&'static Menu> {
        self.has_page.then(|| Menu::of(self.language))
    }
}

/// The words of the menu, which are those of the web page.
#[derive(Debug)]
pub struct Menu {
    pub lobby: &'static str,
    pub rules: &'static str,
}

impl Menu {
    const fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &Self { lobby: "Lobby", rules: "Rules" },
            Language::De => &Self { lobby: "Lobby", rules: "Regeln" },
            Language::Fr => &Self { lobby: "Salon", rules: "Règles" },
            Language::Es => &Self { lobby: "Sala", rules: "Reglas" },
        }
    }
}

/// The values of a page.
#[derive(Template)]
#[template(path = "problem_page.html")]
struct ProblemPage<'a> {
    words: &'static Words,
    title: &'a str,
    /// The explanation of the code as HTML, in English like the title above it.
    meaning: Option<String>,
    menu: Option<&'static Menu>,
    code: Code,
    request_id: Option<&'a str>,
}

/// The page of a failure that has happened.
pub fn of_failure(code: Code, request_id: &str, reader: Reader) -> String {
    let words = Words::of(reader.language);
    let title = if code == Code::NotFound { words.not_found } else { words.failed };
    let page = ProblemPage { words, title, meaning: None, menu: reader.menu(), code, request_id: Some(request_id) };
    page.render().expect("a String accepts all text")
}

/// The page that explains a code.
pub fn of_code(code: Code, reader: Reader) -> String {
    let (words, meaning) = (Words::of(reader.language), Some(html(code.meaning())));
    let page = ProblemPage { words, title: code.title(), meaning, menu: reader.menu(), code, request_id: None };
    page.render().expect("a String accepts all text")
}

/// A code's meaning as HTML. Meanings contain no HTML, and mark code by backticks.
fn html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let parts = escaped.split('`').enumerate();
    parts.map(|(n, part)| if n % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

/// The words of a language.
#[derive(Debug)]
struct Words {
    tag: &'static str,
    not_found: &'static str,
    failed: &'static str,
    /// Before the id of the request.
    request: &'static str,
    /// Leads to the web page.
    home: &'static str,
    /// The note that codes are explained in English, for readers of another language.
    in_english: &'static str,
}

impl Words {
    const fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &Self {
                tag: "en",
                not_found: "This game does not exist, or it is private",
                failed: "That did not work. Try again later",
                request: "request",
                home: "Home",
                in_english: "",
            },
            Language::De => &Self {
                tag: "de",
                not_found: "Dieses Spiel gibt es nicht, oder es ist privat",
                failed: "Das hat nicht geklappt. Versuche es später noch einmal",
                request: "Anfrage",
                home: "Startseite",
                in_english: "Die Fehler der API sind auf Englisch erklärt.",
            },
            Language::Fr => &Self {
                tag: "fr",
                not_found: "Cette partie n’existe pas, ou elle est privée",
                failed: "Cela n’a pas marché. Réessayez plus tard",
                request: "requête",
                home: "Accueil",
                in_english: "Les erreurs de l’API sont expliquées en anglais.",
            },
            Language::Es => &Self {
                tag: "es",
                not_found: "Esta partida no existe, o es privada",
                failed: "No ha funcionado. Inténtalo más tarde",
                request: "petición",
                home: "Inicio",
                in_english: "Los errores de la API se explican en inglés.",
            },
        }
    }
}
