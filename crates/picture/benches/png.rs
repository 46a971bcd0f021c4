//! What the pixels of pictures take: `cargo bench -p mancala-picture`.
//!
//! Prints for each picture and width the bytes of the PNG, the time of one, and how many pixels the processor makes in 10 µs. By the last
//! the server charges pictures.

use std::{fs, time::Instant};

use mancala_picture::{
    Course, Measure, PlayerLabel, PlayerMark, Point, Scene, SceneStatus, View, draw_board, draw_graph, render_png,
};
use mancala_rules::{AnyOptions, AnyPosition, BySide, Variant};

/// How often each picture is made.
const ROUNDS: u32 = 100;

fn main() {
    // `cargo bench` passes `--bench`; `cargo test --benches` does not, and there is nothing to test here.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let (board, graph) = (board(), graph());
    println!(
        "{:<7} {:>6} {:>9} {:>8} {:>8} {:>12} {:>16}",
        "picture", "width", "bytes", "p50 ms", "p99 ms", "processor ms", "pixels in 10 µs"
    );
    for (name, svg) in [("board", &board), ("graph", &graph)] {
        for width in [320, 960, 1200, 2048] {
            measure(name, svg, width);
        }
    }
}

fn measure(name: &str, svg: &str, width: u32) {
    let png = render_png(svg, width).expect("a picture");
    let pixels = f64::from(width) * f64::from(u32::from_be_bytes(png[20..24].try_into().expect("four bytes")));
    let mut took_ms = vec![];
    let before = processor_ns();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        render_png(svg, width).expect("a picture");
        took_ms.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    let processor_ms = (processor_ns() - before) / 1e6 / f64::from(ROUNDS);
    took_ms.sort_by(f64::total_cmp);
    let at = |share: usize| took_ms[(took_ms.len() - 1) * share / 100];
    let (p50, p99, in_10_us) = (at(50), at(99), pixels / processor_ms / 100.0);
    println!("{name:<7} {width:>6} {:>9} {p50:>8.1} {p99:>8.1} {processor_ms:>12.1} {in_10_us:>16.0}", png.len());
}

/// A board in play, with names.
fn board() -> String {
    let position = positions(4).pop().expect("a position");
    let status = SceneStatus::of(&position);
    draw_board(&Scene { position: &position, names: names(), ply: 4, last: None, status }, View::PLAIN)
}

/// The graph of a game of 60 plies.
fn graph() -> String {
    let positions = positions(1);
    let value = |ply: u32| 1500 - i32::try_from(ply * 7919 % 3000).unwrap_or(0);
    let points = (0..60).map(|ply| Point::of(ply, &positions[0]).with_value(value(ply))).collect();
    draw_graph(&Course { variant: Variant::Kalah, names: names(), measure: Measure::Value, points }, View::PLAIN)
}

fn positions(plies: usize) -> Vec<AnyPosition> {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").expect("options");
    let mut positions = vec![AnyPosition::opening(&options)];
    for word in ["E", "c", "a", "A"].into_iter().take(plies) {
        let (next, _) = positions[positions.len() - 1].play(word.parse().expect("a move")).expect("it is legal");
        positions.push(next);
    }
    positions
}

fn names() -> BySide<Option<PlayerLabel<'static>>> {
    let label = |name| Some(PlayerLabel { name, mark: Some(PlayerMark::Guest) });
    BySide { south: label("Ana"), north: label("Bo") }
}

/// The time that this thread has been on a processor, in nanoseconds. Other programs do not count.
fn processor_ns() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("this is Linux");
    text.split(' ').next().and_then(|number| number.parse().ok()).expect("its first number")
}
