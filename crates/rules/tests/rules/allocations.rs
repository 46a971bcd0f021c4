//! Trying out moves takes nothing from the heap, position by position.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use mancala_rules::{
    AnyOptions, AnyPosition, Variant,
    packed::{Congkak, Game, Kalah, Oware, Path, Position},
    perft,
};

/// The system's allocator, with a count of how often each thread asks it for memory.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: the caller keeps the promises of `realloc`.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// How often this thread asks for memory while some work is done.
fn asked(work: impl FnOnce()) -> u64 {
    let before = ASKED.get();
    work();
    ASKED.get() - before
}

fn opening(variant: Variant) -> AnyPosition {
    AnyPosition::opening(&AnyOptions::parse(variant, "standard", "").unwrap())
}

/// Visits every line of so many plies, and says how many there are.
fn walk(game: &impl Game, position: &Position, path: &mut Path, depth: u32) -> u64 {
    let mut lines = 0;
    for pit in game.legal_pits(position) {
        let next = game.play(position, pit, path);
        if depth == 1 {
            lines += 1;
        } else {
            path.push(position);
            lines += walk(game, &next, path, depth - 1);
            path.pop();
        }
    }
    lines
}

#[track_caller]
fn check(game: &impl Game, start: &Position, expected: u64) {
    let mut path = Path::default();
    let growing = asked(|| assert_eq!(walk(game, start, &mut path, 6), expected));
    assert!(growing < 5, "{growing} times for a path of six positions");
    let again = asked(|| assert_eq!(walk(game, start, &mut path, 6), expected));
    assert_eq!(again, 0);
}

#[test]
fn a_packed_game_is_tried_out_without_the_heap() {
    assert_eq!(asked(|| drop(Box::new(1))), 1, "what is asked for is counted");
    for variant in Variant::ALL {
        match &opening(variant) {
            AnyPosition::Kalah(position) => {
                let game = Kalah::new(position).expect("six pits fit");
                check(&game, &game.pack(position).expect("it is of this game"), 23_233);
            }
            AnyPosition::Oware(position, history) => {
                let game = Oware::new(position).expect("six pits fit");
                check(&game, &game.pack(position, history).expect("it is of this game").0, 27_332);
            }
            AnyPosition::Congkak(position) => {
                let game = Congkak::new(position).expect("seven pits fit");
                check(&game, &game.pack(position).expect("it is of this game"), 48_263);
            }
        }
    }
}

/// It keeps the memory of the positions that it has done with.
#[test]
fn sequences_are_counted_with_a_handful_of_allocations() {
    for (variant, expected) in [(Variant::Kalah, 23_233), (Variant::Oware, 27_332), (Variant::Congkak, 48_263)] {
        let opening = opening(variant);
        let asked = asked(|| assert_eq!(perft(&opening, 6), expected));
        assert!(asked < 200, "{variant}: {asked} times");
    }
}
