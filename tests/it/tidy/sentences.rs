//! Comments are read at first sight: they begin with their subject, their sentences are short, and their lines fit a screen.

use std::fs;

use super::sources::{below_root, files, root};

const WORDS_MAX: usize = 25;
const COLUMNS_MAX: usize = 150;

/// First words that name no subject: such a comment is understood only with the code below it.
const VAGUE: [&str; 6] = ["Of", "Those", "These", "That", "One", "It"];

/// A paragraph of a comment, or an item of a list in it, with its first line.
#[derive(Debug, PartialEq, Eq)]
struct Paragraph {
    line: usize,
    text: String,
}

/// The text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.strip_prefix(['/', '!']).unwrap_or(text).trim())
}

fn is_item(text: &str) -> bool {
    let number = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    text.starts_with("- ") || text.starts_with("* ") || (number != text && number.starts_with(". "))
}

/// Headings, tables and the targets of links are no prose.
fn is_prose(text: &str) -> bool {
    let is_heading = text.starts_with('#') && text.trim_start_matches('#').starts_with(' ');
    let is_target = text.starts_with('[') && text.contains("]: ");
    !(text.is_empty() || text.starts_with('|') || is_heading || is_target)
}

/// The paragraphs of all comments, without blocks of code.
fn paragraphs(source: &str) -> Vec<Paragraph> {
    let mut found: Vec<Paragraph> = vec![];
    let (mut is_code, mut is_open) = (false, false);
    for (at, line) in source.lines().enumerate() {
        let text = comment(line).unwrap_or_default();
        let is_fence = text.starts_with("```");
        is_code = comment(line).is_some() && is_code != is_fence;
        match found.last_mut() {
            _ if is_code || is_fence || !is_prose(text) => is_open = false,
            Some(last) if is_open && !is_item(text) => last.text = format!("{} {text}", last.text),
            _ => {
                found.push(Paragraph { line: at + 1, text: text.to_owned() });
                is_open = true;
            }
        }
    }
    found
}

/// Leaves one word of each piece of code.
fn shorten_code(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    pieces.map(|(at, piece)| if at % 2 == 0 { piece } else { "`code`" }).collect()
}

fn ends(word: &str, next: &str) -> bool {
    let word = word.trim_end_matches([')', ']', '"', '*', '_']);
    let next = next.trim_start_matches(['"', '*', '_']);
    word.ends_with(['.', '!', '?', ':', ';'])
        && next.starts_with(|letter: char| letter.is_uppercase() || ['`', '[', '('].contains(&letter))
}

/// The sentences of a paragraph, each with the number of its words.
fn sentences(paragraph: &str) -> Vec<(usize, String)> {
    let text = shorten_code(paragraph);
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = vec![];
    let mut first = 0;
    for at in 0..words.len() {
        if words.get(at + 1).is_none_or(|next| ends(words[at], next)) {
            let sentence = &words[first..=at];
            let count = sentence.iter().filter(|word| word.contains(char::is_alphanumeric)).count();
            found.push((count, sentence.join(" ")));
            first = at + 1;
        }
    }
    found
}

/// The first word of a paragraph if it is vague. A piece of code is a name.
fn vague_word(paragraph: &str) -> Option<&'static str> {
    let text = shorten_code(paragraph);
    let first = text.split(|letter: char| !letter.is_alphabetic()).find(|word| !word.is_empty())?;
    VAGUE.into_iter().find(|word| *word == first)
}

fn findings(path: &str, source: &str) -> Vec<String> {
    let mut found = vec![];
    for Paragraph { line, text } in paragraphs(source) {
        found.extend(vague_word(&text).map(|word| format!("{path}:{line}: begins with {word}")));
        let long = sentences(&text).into_iter().filter(|(words, _)| *words > WORDS_MAX);
        found.extend(long.map(|(words, sentence)| format!("{path}:{line}: {words} words: {sentence}")));
    }
    let comments = source.lines().enumerate().filter(|(_, line)| comment(line).is_some());
    let columns = comments.map(|(at, line)| (at, line.chars().count()));
    let wide = columns.filter(|(_, columns)| *columns > COLUMNS_MAX);
    found.extend(wide.map(|(at, columns)| format!("{path}:{}: {columns} columns", at + 1)));
    found
}

/// The findings in all Rust sources of the repository that are written by hand.
pub fn hard_comments() -> Vec<String> {
    let mut paths = vec![root().join("build.rs")];
    paths.extend(["src", "crates", "tests", "benches"].iter().flat_map(|folder| files(&root().join(folder), "rs")));
    paths.retain(|path| !path.iter().any(|folder| folder == "generated"));
    assert!(paths.len() > 500, "{}", paths.len());
    let read = |path| fs::read_to_string(path).expect("a source is text");
    paths.iter().flat_map(|path| findings(&below_root(path), &read(path))).collect()
}

fn counts(paragraph: &str) -> Vec<usize> {
    sentences(paragraph).into_iter().map(|(words, _)| words).collect()
}

#[test]
fn a_long_sentence_and_a_wide_line_of_a_comment_are_found() {
    let (short, long) = ("word ".repeat(WORDS_MAX), "word ".repeat(WORDS_MAX + 1));
    let wrapped = format!("fn f() {{\n    /// {}\n    /// word\n}}", short.trim());
    assert_eq!(findings("a.rs", &format!("//! {short}\n\n// {short}.\nlet a = \"{long}\";")), Vec::<String>::new());
    assert_eq!(findings("a.rs", &wrapped), [format!("a.rs:2: 26 words: {}", long.trim())]);
    let wide = "w".repeat(COLUMNS_MAX - 2);
    assert_eq!(findings("a.rs", &format!("//{wide}\n// {wide}\n{wide}wide")), ["a.rs:2: 151 columns"]);
}

#[test]
fn a_comment_that_begins_with_no_subject_is_found() {
    let bad = "/// Of one lane.\nfn f() {}\n\n//! A.\n//!\n//! It goes on.\n// - One\nlet a = \"It\"; // It";
    assert_eq!(findings("a.rs", bad), ["a.rs:1: begins with Of", "a.rs:6: begins with It", "a.rs:7: begins with One"]);
    let good = "/// Offers of it.\n// Items.\n\n/// `One` is a name.\n\n// # It\n\n/// A lane. It is free.";
    assert_eq!(findings("a.rs", good), Vec::<String>::new());
}

#[test]
fn a_sentence_ends_before_a_capital_a_piece_of_code_or_a_bracket() {
    assert_eq!(counts("One two. Three! `Four` five? [Six] seven; (Eight) nine: Ten"), [2, 1, 2, 2, 2, 1]);
    assert_eq!(counts("One two: three; four, e.g. five"), [6]);
    assert_eq!(counts("(One two.) Three \"four.\" \"Five\" **six.** Seven"), [2, 2, 2, 1]);
    assert_eq!(counts("`SELECT a. From b` is 0.15 ms — or [a link](to/a/page)"), [7]);
    assert_eq!(counts(""), Vec::<usize>::new());
}

#[test]
fn paragraphs_leave_out_what_is_no_prose() {
    let source = "/// # Errors\n/// One\n/// two.\n///\n/// - three\n///   four\n/// 5. six\n/// | a | b |\n/// ```\n/// x\n\
                  /// ```\n/// [seven]: https://eight\n/// nine\nfn f() {}\n    // ten\n\n    // 11";
    let found = paragraphs(source).into_iter().map(|Paragraph { line, text }| format!("{line} {text}"));
    let expected = ["2 One two.", "5 - three four", "7 5. six", "13 nine", "15 ten", "17 11"];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}
