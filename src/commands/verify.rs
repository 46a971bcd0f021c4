//! `verify`: compares all games with their logs.

use std::cell::RefCell;

use mancala_server::{
    config::{Serve, Verify},
    db::records::verify::count,
    domain::GameId,
    jobs::{
        lasting::Pace,
        verification::{Progress as Step, verify_all},
    },
};

use super::{
    database::{cores, with_database},
    failure::Failure,
    output::{counted, print},
    progress::Progress,
    resume::{ResumeFile, Work},
};

pub fn verify(options: &Serve, verify: &Verify) -> Result<(), Failure> {
    let (position, vanished) = with_database(options, async |_, pool| {
        let count = count(&pool).await.map_err(Failure::new)?;
        let work = Work { command: "verify".to_owned(), output: None, format: None };
        let (resume, begin) = ResumeFile::open(verify.resume.as_ref(), &pool, work).await?;
        let progress = Progress::start(count, begin.games, "games", "games, about {len}; {per_sec}, {eta} left")?;
        let patience = progress.patience(verify.lasting.outage_s);
        let state = RefCell::new((resume, begin, 0_u64));
        let on_progress = |step: Step<'_>| {
            let (resume, position, vanished) = &mut *state.borrow_mut();
            match step {
                Step::Checked { games, last } => {
                    position.games = position.games.saturating_add(games);
                    position.after = last.0;
                    progress.advance(games);
                    if resume.is_due()
                        && let Err(error) = resume.write(position)
                    {
                        tracing::warn!("the position cannot be written, so that a rerun begins earlier: {error}");
                    }
                }
                Step::Flaw { game, seq, detail } => {
                    position.damaged = position.damaged.saturating_add(1);
                    let seq = seq.map_or_else(String::new, |seq| format!(" seq {seq}"));
                    progress.print(&format!("game {game}{seq}: {detail}"));
                }
                Step::Vanished => *vanished += 1,
            }
        };
        let after = GameId(state.borrow().1.after);
        let pace = Pace::new(verify.lasting.pace);
        verify_all(&pool, after, cores(), &patience, pace, on_progress).await.map_err(Failure::new)?;
        progress.finish();
        let (resume, position, vanished) = state.into_inner();
        resume.remove();
        Ok((position, vanished))
    })?;
    if vanished > 0 {
        print(&format_args!("{} deleted meanwhile\n", counted(vanished, "game was", "games were")))?;
    }
    let games = position.games;
    match position.damaged {
        0 => print(&format_args!("{} sound\n", counted(games, "game is", "games are"))),
        flaws => {
            let flaws = counted(flaws, "flaw was", "flaws were");
            Err(Failure::damaged(format!("{flaws} found in {}", counted(games, "game", "games"))))
        }
    }
}
