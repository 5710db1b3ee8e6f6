//! The simulation of applications that share executors.

use std::collections::BTreeSet;

use super::allocation::Allocation;
use super::application::IsparkApplication;
use super::job::IsparkJob;
use super::outcome::{IsparkCounts, IsparkOutcome, IsparkUsage};
use super::parameters::IsparkParameters;

/// An application needs more executors to start than fit the cluster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "application {application} waits for {executors} executors; the cluster has room for {room}"
)]
pub struct NeverEnds {
    /// The name of the application.
    pub application: String,
    /// The executors that it starts with.
    pub executors: usize,
    /// The executors that fit the cluster.
    pub room: usize,
}

/// The end of an iteration and the index of its application.
type Ends = (u64, usize);

struct IsparkRun<'a> {
    parameters: &'a IsparkParameters,
    allocation: Allocation,
    jobs: &'a [IsparkJob],
    running: Vec<Option<IsparkApplication<'a>>>,
    /// The number of submitted applications.
    came: usize,
    /// The index of the first application that has not started.
    next: usize,
    free: usize,
    agenda: BTreeSet<Ends>,
    ends_s: Vec<f64>,
    usage: IsparkUsage,
    counts: IsparkCounts,
}

/// Time in whole microseconds, so that it has an order.
fn micros(time_s: f64) -> u64 {
    (time_s * 1e6).round() as u64
}

/// Runs jobs, given in the order of submission.
pub fn simulate(
    parameters: &IsparkParameters,
    allocation: Allocation,
    jobs: &[IsparkJob],
) -> Result<IsparkOutcome, NeverEnds> {
    let mut run = IsparkRun {
        parameters,
        allocation,
        jobs,
        running: vec![None; jobs.len()],
        came: 0,
        next: 0,
        free: parameters.room,
        agenda: BTreeSet::new(),
        ends_s: vec![0.0; jobs.len()],
        usage: IsparkUsage::default(),
        counts: IsparkCounts::default(),
    };
    run.run_through()?;
    Ok(run.outcome())
}

impl<'a> IsparkRun<'a> {
    fn run_through(&mut self) -> Result<(), NeverEnds> {
        loop {
            let arrival = self.jobs.get(self.came).map(|job| micros(job.submitted_s));
            let end = self.agenda.first().map(|(at, _)| *at);
            let now = match (arrival, end) {
                (Some(arrival), Some(end)) => arrival.min(end),
                (Some(only), None) | (None, Some(only)) => only,
                (None, None) => break,
            };
            while let Some((at, application)) = self.agenda.first().copied()
                && at == now
            {
                self.agenda.pop_first();
                self.iterated(application, now);
            }
            while self.jobs.get(self.came).is_some_and(|job| micros(job.submitted_s) <= now) {
                self.came += 1;
            }
            self.share_out(now);
        }
        match self.jobs.get(self.next) {
            None => Ok(()),
            Some(job) => Err(NeverEnds {
                application: job.name.clone(),
                executors: self.least(),
                room: self.parameters.room,
            }),
        }
    }

    fn iterated(&mut self, at: usize, now: u64) {
        let Some(application) = &mut self.running[at] else {
            return;
        };
        let held = application.held();
        if application.end(&mut self.counts) {
            self.free += held - application.held();
            let length_s = application.begin(&mut self.usage);
            self.agenda.insert((now + micros(length_s), at));
        } else {
            self.free += held;
            self.running[at] = None;
            self.ends_s[at] = now as f64 / 1e6;
        }
    }

    /// The minimum executors at the start of an application.
    fn least(&self) -> usize {
        match self.allocation {
            Allocation::Dynamic => 1,
            Allocation::Static | Allocation::Packed => self.parameters.executors,
        }
    }

    /// The earliest application goes first; none overtakes an application that waits to start.
    fn share_out(&mut self, now: u64) {
        for application in self.running.iter_mut().flatten() {
            let given = application.wants.min(self.free);
            if given > 0 {
                self.free -= given;
                application.gains(given, &mut self.counts);
            }
        }
        while self.next < self.came && self.free >= self.least() {
            let executors = match self.allocation {
                Allocation::Dynamic => self.free.min(self.parameters.most_executors),
                Allocation::Static | Allocation::Packed => self.parameters.executors,
            };
            let job = &self.jobs[self.next];
            let mut started =
                IsparkApplication::new(job, self.parameters, self.allocation, executors);
            let length_s = started.begin(&mut self.usage);
            self.agenda.insert((now + micros(length_s), self.next));
            self.free -= executors;
            self.running[self.next] = Some(started);
            self.next += 1;
        }
    }

    fn outcome(self) -> IsparkOutcome {
        let first_s = self.jobs.first().map_or(0.0, |job| job.submitted_s);
        let last_s = self.ends_s.iter().copied().fold(first_s, f64::max);
        let completions = self.ends_s.iter().zip(self.jobs);
        IsparkOutcome {
            makespan_s: last_s - first_s,
            completions_s: completions.map(|(end_s, job)| end_s - job.submitted_s).collect(),
            utilization: self.usage.of_cluster(self.parameters.room, last_s - first_s),
            executor_utilization: self.usage.of_executors(),
            counts: self.counts,
        }
    }
}
