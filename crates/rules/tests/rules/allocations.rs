//! Counts how often trying moves allocates memory on the heap.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    hint::black_box,
};

use mancala_rules::{
    AnyOptions, AnyPosition, History, Line, Variant, congkak, kalah, oware,
    packed::{Congkak, Game, Kalah, Oware, Path, Position},
    perft,
};

/// The system's allocator, with a count of the allocations of each thread.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the promises of `realloc`.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// How often this thread allocates memory during `work`.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

fn opening(variant: Variant) -> AnyPosition {
    AnyPosition::opening(&AnyOptions::parse(variant, "standard", "").unwrap())
}

/// Visits every line of `depth` plies and returns how many there are.
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
    let growing = allocations(|| assert_eq!(walk(game, start, &mut path, 6), expected));
    assert!(growing < 5, "{growing} allocations for a path of six positions");
    let again = allocations(|| assert_eq!(walk(game, start, &mut path, 6), expected));
    assert_eq!(again, 0);
}

#[test]
fn trying_moves_of_a_packed_game_allocates_nothing() {
    assert_eq!(allocations(|| drop(black_box(Box::new(1)))), 1, "allocations are counted");
    for variant in Variant::ALL {
        let opening = opening(variant);
        if let Some(position) = opening.of_game::<kalah::Position>() {
            let game = Kalah::new(position).expect("six pits fit");
            check(&game, &game.pack(position).expect("it belongs to this game"), 23_233);
        } else if let Some(position) = opening.of_game::<oware::Position>() {
            let (game, history) = (Oware::new(position).expect("six pits fit"), History::default());
            check(&game, &game.pack(position, &history).expect("it belongs to this game").0, 27_332);
        } else if let Some(position) = opening.of_game::<congkak::Position>() {
            let game = Congkak::new(position).expect("seven pits fit");
            check(&game, &game.pack(position).expect("it belongs to this game"), 48_263);
        } else {
            let line = Line::to(&opening);
            let moves = || opening.legal_moves().iter().for_each(|&m| drop(line.play(&opening, m)));
            assert_eq!(allocations(moves), 0, "{variant} has no packed form, and its own allocates nothing");
        }
    }
}

/// `perft` reuses the memory of visited positions.
#[test]
fn counting_sequences_allocates_a_bounded_number_of_times() {
    for (variant, expected) in [(Variant::Kalah, 23_233), (Variant::Oware, 27_332), (Variant::Congkak, 48_263)] {
        let opening = opening(variant);
        let allocations = allocations(|| assert_eq!(perft(&opening, 6), expected));
        assert!(allocations < 200, "{variant}: {allocations} allocations");
    }
}
