//! The README's game by curl: each block is run, and prints what the README shows.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use actix_web::web;

use crate::support::app::{TestApp, limited};

const README: &str = include_str!("../../../README.md");

/// Where the README's server listens.
const BASE: &str = "BASE=http://127.0.0.1:8080\n";

/// What the script prints between two blocks, to tell the output of one from the next one's.
const BETWEEN: &str = "--- the next block ---";

/// A block of commands, and what stands below it as its output.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    commands: String,
    output: String,
}

/// The blocks of the README's section on the game, in order.
fn blocks() -> Vec<Block> {
    let (_, section) = README.split_once("\n## A game by curl\n").expect("the README plays a game");
    let (section, _) = section.split_once("\n## ").expect("the README goes on");
    let mut blocks: Vec<Block> = vec![];
    let mut rest = section;
    while let Some((_, fenced)) = rest.split_once("\n```") {
        let (language, fenced) = fenced.split_once('\n').expect("a block has lines");
        let (text, after) = fenced.split_once("\n```\n").expect("a block ends");
        match (language, blocks.last_mut()) {
            ("sh", _) => blocks.push(Block { commands: format!("{text}\n"), output: String::new() }),
            ("text", Some(block)) if block.output.is_empty() => text.clone_into(&mut block.output),
            _ => panic!("a block of {language:?} is neither commands nor their output"),
        }
        rest = after;
    }
    blocks
}

/// Runs a script that stops at the first command that fails.
fn run(script: &str) -> Output {
    let mut shell = Command::new("sh");
    let shell = shell.args(["-eu"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().expect("there is a shell");
    let mut input = child.stdin.take().expect("standard input is piped");
    input.write_all(script.as_bytes()).expect("the shell reads its script");
    drop(input);
    child.wait_with_output().expect("the shell ends")
}

#[actix_web::test]
async fn the_game_by_curl_goes_as_the_readme_says() {
    // A server with its default options.
    let app = TestApp::start_with(limited).await;
    let blocks = blocks();
    assert_eq!(blocks.iter().filter(|block| block.commands.contains(BASE)).count(), 1);
    let base = format!("BASE=http://{}\n", app.address);
    let commands: Vec<String> = blocks.iter().map(|block| block.commands.replace(BASE, &base)).collect();
    let script = commands.join(&format!("echo '{BETWEEN}'\n"));
    let Output { status, stdout, stderr } = web::block(move || run(&script)).await.expect("the script runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success() && stderr.is_empty(), "{status}\n{stdout}\n{stderr}");
    let printed: Vec<&str> = stdout.split(BETWEEN).map(str::trim).collect();
    let expected: Vec<&str> = blocks.iter().map(|block| block.output.as_str()).collect();
    assert_eq!(printed, expected);
}

#[test]
fn the_readme_shows_all_that_the_game_is_there_to_show() {
    let shown: String = blocks().into_iter().map(|block| block.output + "\n").collect();
    let plies = |status: &str| shown.lines().filter(|line| line.starts_with(status)).count();
    assert_eq!((plies("201 "), plies("200 ")), (10, 1), "a move sent twice is played once");
    assert!(shown.contains(" S e ") && shown.contains(" N e "), "both sides get an extra move");
    assert!(shown.contains(r#""type":"capture""#), "a capture");
    assert!(shown.contains(r#""score":{"south":20,"north":28}"#), "the end");
    assert!(shown.contains(r#""ply":4"#), "a position of the past");
}
