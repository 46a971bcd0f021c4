//! How a process divides its connections to the database among its parts.
//!
//! The connections of a move come first: the writers, the readers of revocations and of changes, and for each worker a look-up and a read.
//! With few connections there are fewer workers, and the jobs share one connection. Nothing opens a connection that is not in the plan.

use thiserror::Error;

/// All connections of the pools that read for requests. Each worker has an equal part.
///
/// More connections than cores pay off only while statements wait for the disk. Each costs the database memory, and
/// several processes share one database.
const READS_MAX: u32 = 16;

/// The most workers: more would leave too few connections for each.
const WORKERS_MAX: u32 = 8;

/// Connections for the reads of heavy work, and for webhooks, which convert events while they record attempts.
const HEAVY_MAX: u32 = 3;
const WEBHOOKS_MAX: u32 = 3;

/// The demand of the options and the machine.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// Threads that answer requests.
    pub workers: u32,
    pub writers: u32,
    pub computer_threads: u32,
    pub analysis_threads: u32,
    /// Whether a standby answers reads.
    pub has_standby: bool,
}

/// The connections of each part of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionPlan {
    pub writers: u32,
    /// Threads that answer requests. Each has one connection for look-ups.
    pub workers: u32,
    /// The connections of each worker's pool.
    pub reads_each: u32,
    /// Whether changes of other processes are listened for. Otherwise they are found by polls, a second later.
    pub has_listener: bool,
    pub heavy: u32,
    /// Deadlines and maintenance: two connections, or one shared.
    pub housekeeping: u32,
    /// Whether a connection reads how far the primary's log is. Connections to the standby are not counted: each pool has as many as its
    /// pool to the primary.
    pub has_standby: bool,
    /// The connections of webhooks, the computer, analyses and the explorer.
    pub jobs: JobConnections,
    pub supply: Supply,
}

/// The connections that the database gave at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// All connections that were asked for.
    Full,
    /// Fewer, and the plan is a smaller one.
    Reduced,
    /// Fewer than the least. Parts wait for connections until others leave some.
    Scarce,
}

/// The connections of the jobs that have threads of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobConnections {
    /// All jobs share one connection, and one thread.
    Shared,
    /// The jobs have connections of their own: `webhooks`, one for each engine thread of the computer and of analyses, and one for the
    /// explorer.
    Own { webhooks: u32, engines: u32 },
}

/// There are fewer connections than a process needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the server needs at least {least} connections to the database")]
pub struct TooFew {
    pub least: u32,
}

impl ConnectionPlan {
    /// Divides up to `max` connections; with `None`, as many as the parts can use.
    pub fn of(demand: Demand, max: Option<u32>) -> Result<Self, TooFew> {
        let wanted = demand.workers.clamp(1, WORKERS_MAX);
        let mut plan = Self {
            writers: demand.writers.max(1),
            workers: 1,
            reads_each: 1,
            has_listener: false,
            heavy: 1,
            housekeeping: 1,
            has_standby: demand.has_standby,
            jobs: JobConnections::Shared,
            supply: Supply::Full,
        };
        let max = max.unwrap_or(u32::MAX);
        if plan.total() > max {
            return Err(TooFew { least: plan.total() });
        }
        let own = |webhooks| JobConnections::Own {
            webhooks,
            engines: demand.computer_threads.saturating_add(demand.analysis_threads),
        };
        let mut steps = vec![Self { has_listener: true, ..plan }];
        // Each step is a field that grows; the steps come in the order of their importance.
        let mut grow = |change: &dyn Fn(&mut Self)| {
            let mut next = *steps.last().expect("there is a first step");
            change(&mut next);
            steps.push(next);
        };
        (2..=wanted).for_each(|workers| grow(&|plan| plan.workers = workers));
        grow(&|plan| plan.reads_each = 2);
        grow(&|plan| plan.housekeeping = 2);
        grow(&|plan| plan.jobs = own(1));
        (3..=READS_MAX / wanted).for_each(|reads| grow(&|plan| plan.reads_each = reads));
        (2..=HEAVY_MAX).for_each(|heavy| grow(&|plan| plan.heavy = heavy));
        (2..=WEBHOOKS_MAX).for_each(|webhooks| grow(&|plan| plan.jobs = own(webhooks)));
        for step in steps {
            if step.total() > max {
                break;
            }
            plan = step;
        }
        Ok(plan)
    }

    /// How many of `max` connections a part opens at once and keeps. The worker's reads keep one, however few there are.
    pub const fn kept(&self, max: u32) -> u32 {
        if matches!(self.supply, Supply::Scarce) { 0 } else { max }
    }

    /// How many connections the process opens at most.
    pub const fn total(&self) -> u32 {
        let jobs = match self.jobs {
            JobConnections::Shared => 1,
            JobConnections::Own { webhooks, engines } => webhooks.saturating_add(engines).saturating_add(1),
        };
        // Two connections more: one reads revoked credentials, one sends notifications and polls.
        let moves = self.writers + self.workers * (1 + self.reads_each) + 2 + self.has_listener as u32;
        moves.saturating_add(self.heavy + self.housekeeping + self.has_standby as u32).saturating_add(jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMAND: Demand =
        Demand { workers: 4, writers: 1, computer_threads: 1, analysis_threads: 1, has_standby: false };

    #[test]
    fn no_plan_has_more_connections_than_allowed() {
        let least = ConnectionPlan::of(DEMAND, Some(0)).expect_err("none is too few").least;
        assert_eq!(least, 8);
        let mut before = 0;
        for max in least..100 {
            let total = ConnectionPlan::of(DEMAND, Some(max)).expect("enough").total();
            assert!(total <= max && total >= before, "{total} of {max}");
            before = total;
        }
        assert_eq!(ConnectionPlan::of(DEMAND, None).expect("enough").total(), before);
        let with_standby = Demand { has_standby: true, ..DEMAND };
        assert_eq!(ConnectionPlan::of(with_standby, None).expect("enough").total(), before + 1);
        let many = Demand { writers: 32, ..DEMAND };
        assert_eq!(ConnectionPlan::of(many, Some(38)), Err(TooFew { least: 39 }));
    }

    #[test]
    fn the_default_options_need_39_connections_at_most() {
        let totals = (1..=64).map(|workers| {
            let plan = ConnectionPlan::of(Demand { workers, ..DEMAND }, None).expect("no limit");
            assert_eq!((plan.heavy, plan.jobs), (3, JobConnections::Own { webhooks: 3, engines: 2 }));
            plan.total()
        });
        assert_eq!(totals.max(), Some(39));
    }

    #[test]
    fn what_moves_need_comes_before_jobs() {
        let plan = |max| ConnectionPlan::of(DEMAND, Some(max)).expect("enough");
        assert!(plan(9).has_listener && !plan(8).has_listener);
        assert_eq!((plan(15).workers, plan(15).reads_each, plan(15).jobs), (4, 1, JobConnections::Shared));
        assert_eq!((plan(19).reads_each, plan(19).housekeeping), (2, 1));
        assert_eq!((plan(23).housekeeping, plan(23).jobs), (2, JobConnections::Own { webhooks: 1, engines: 2 }));
        assert_eq!((plan(23).heavy, plan(31).reads_each, plan(33).heavy), (1, 4, 3));
    }
}
