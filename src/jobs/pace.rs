//! How fast the engine works beside moves. A low priority is not enough: where the kernel shares a processor out among groups of
//! processes, it counts within a group only, and PostgreSQL is another one.

use std::{convert::Infallible, time::Duration};

use tokio::time::sleep;

use crate::{db::Writers, engine::Signal};

/// How long the engine works at least until it rests, and between two looks whether it may go on.
const TICK: Duration = Duration::from_millis(1);

/// How many ticks it rests at most: beside as many moves as can be it has a sixtieth of its time, and beside none all of it.
const REST_MAX: u32 = 59;

/// Has a search rest while this process stores moves.
pub async fn keep_pace(signal: &Signal, writers: &Writers) -> Infallible {
    loop {
        let mut rested = 0;
        while rested < REST_MAX && writers.busy() > 0 {
            signal.rest();
            sleep(TICK).await;
            rested += 1;
        }
        signal.go_on();
        sleep(TICK).await;
    }
}
