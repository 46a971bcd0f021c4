//! Throttles the engine while the process stores moves.
//!
//! A low priority is not enough. Where the kernel divides a processor among groups of processes, the priority counts
//! only within a group, and PostgreSQL runs in another one.

use std::{convert::Infallible, time::Duration};

use tokio::time::sleep;

/// The shortest time that the engine works, and the interval at which a resting engine is checked.
const TICK: Duration = Duration::from_millis(1);

/// The most ticks of one rest: under full load the engine works a sixtieth of the time, without moves all the time.
const REST_MAX: u32 = 59;

/// Pauses a search while the process is busy with moves. `is_busy` tells whether it is; `rest` and `go_on` signal the search.
pub async fn keep_pace(is_busy: impl Fn() -> bool, rest: impl Fn(), go_on: impl Fn()) -> Infallible {
    loop {
        let mut rested = 0;
        while rested < REST_MAX && is_busy() {
            rest();
            sleep(TICK).await;
            rested += 1;
        }
        go_on();
        sleep(TICK).await;
    }
}
