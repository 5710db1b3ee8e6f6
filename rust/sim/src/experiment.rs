//! Several policies on several seeds of a workload.

use std::sync::Mutex;

use crate::parallel::in_parallel;
use crate::simulator::{LowerBound, Policies, Settings, SimulatedRun, SimulationError, simulate};
use crate::workload::Workload;

/// A comparison of policies.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// A workload per seed.
    pub runs: Vec<SeedRun>,
    /// The known policies.
    pub known_policies: Policies,
    /// The policies' names.
    pub policies: Vec<String>,
    /// The settings of all runs. A node is recorded only with the first seed.
    pub settings: Settings,
    /// The number of concurrent runs.
    pub threads: usize,
}

/// One seed of an experiment.
#[derive(Debug, Clone)]
pub struct SeedRun {
    /// The seed.
    pub seed: u64,
    /// Its workload.
    pub workload: Workload,
}

/// The outcomes of an experiment.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The workload's name.
    pub workload: String,
    /// In the order of the experiment.
    pub seeds: Vec<u64>,
    /// One per seed.
    pub bounds: Vec<LowerBound>,
    /// In the order of the experiment.
    pub policies: Vec<PolicyOutcomes>,
}

/// The outcomes of one policy.
#[derive(Debug, Clone)]
pub struct PolicyOutcomes {
    /// Its name.
    pub policy: String,
    /// One per seed.
    pub outcomes: Vec<SimulatedRun>,
}

impl Experiment {
    /// Runs every policy on every seed. `progress` gets the number of finished executors and of all
    /// executors, from any thread.
    ///
    /// # Errors
    /// The first run, in the order of the experiment, that failed.
    pub fn run(&self, progress: &(dyn Fn(u64, u64) + Sync)) -> Result<Comparison, SimulationError> {
        let executors: u64 = self.runs.iter().map(|run| run.workload.executors()).sum();
        let all = executors * self.policies.len() as u64;
        let done = Mutex::new(0_u64);
        let report = |more: u64| {
            if let Ok(mut done) = done.lock() {
                *done += more;
                progress(*done, all);
            }
        };
        let jobs = self.runs.len() * self.policies.len();
        let outcomes = in_parallel(jobs, self.threads, |job| {
            let (policy, run) = (job / self.runs.len(), job % self.runs.len());
            self.one(policy, run, &report)
        })?;
        let mut outcomes = outcomes.into_iter();
        let policies = self.policies.iter().map(|policy| PolicyOutcomes {
            policy: policy.clone(),
            outcomes: outcomes.by_ref().take(self.runs.len()).collect(),
        });
        let policies = policies.collect();
        let bounds = in_parallel(self.runs.len(), self.threads, |run| {
            let run = &self.runs[run];
            Ok::<_, SimulationError>(LowerBound::new(&run.workload, run.seed))
        })?;
        Ok(Comparison {
            workload: self.runs.first().map_or_else(String::new, |run| run.workload.name.clone()),
            seeds: self.runs.iter().map(|run| run.seed).collect(),
            bounds,
            policies,
        })
    }

    fn one(
        &self,
        policy: usize,
        run: usize,
        report: &dyn Fn(u64),
    ) -> Result<SimulatedRun, SimulationError> {
        let settings = Settings {
            recorded_node: self.settings.recorded_node.filter(|_| run == 0),
            ..self.settings
        };
        let SeedRun { seed, workload } = &self.runs[run];
        // Reports once per 1 % of the executors, so that reports cost nothing.
        let executors = workload.executors();
        let step = (executors / 100).max(1);
        let mut told = 0;
        let mut progress = |done: u64| {
            if done - told >= step || done == executors {
                report(done - told);
                told = done;
            }
        };
        simulate(
            workload,
            &self.known_policies,
            &self.policies[policy],
            &settings,
            *seed,
            &mut progress,
        )
    }
}
