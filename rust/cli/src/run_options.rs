//! The options of a comparison in the simulator, and its runs.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args};
use elastane_core::ClusterSettings;
use elastane_core::fit::Peaks;
use elastane_core::policy::{Favor, PolicyOptions};
use elastane_sim::experiment::{Comparison, Experiment, SeedRun};
use elastane_sim::report;
use elastane_sim::simulator::{Contention, Policies, Settings, SimulationError};
use elastane_sim::workload::{Errors, Workload};
use serde_json::Value;

use crate::bar::bar;
use crate::failure::Failure;

/// How each run goes.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// The first seed
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub seed: u64,
    /// How many runs go on at a time
    #[arg(long, value_name = "NUMBER", default_value = "2",
          value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// The standard deviation of an executor's use in a slot, as a fraction of the prediction; replaces
    /// the workload's own
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    pub noise: Option<f64>,
    /// The standard deviation of an executor's length, as a fraction of the prediction; replaces the
    /// workload's own
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    pub length_error: Option<f64>,
    /// The safety margin that the fit adds to each demand, as a fraction; 0.2 if not given, that of
    /// profile.margin at full confidence
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    margin: Option<f64>,
    /// Whether applications that have not run before are planned by what the others use of their requests, as
    /// profile.others
    #[arg(long, value_name = "SWITCH", default_value = "on", action = ArgAction::Set,
          value_parser = PossibleValuesParser::new(["on", "off"]).map(|switch| switch == "on"))]
    others: bool,
    /// How many times its registered size a node may book, as overcommit.max-ratio; 4 if not given
    #[arg(long, value_name = "FACTOR", value_parser = at_least_one)]
    max_ratio: Option<f64>,
    /// How the fit treats coinciding peaks of CPU, network and disk: their sum must fit, as in the papers
    /// (strict), or may exceed the node by a fifth of it, as in the policy elastane (soft); the policy's
    /// own rule if not given
    #[arg(long, value_name = "RULE", value_parser = PossibleValuesParser::new(["strict", "soft"]).map(
        |rule| if rule == "strict" { Peaks::Strict } else { Peaks::Soft }
    ))]
    peaks: Option<Peaks>,
    /// What the policy elastane minimizes: makespan, completion (the mean completion time of
    /// applications) or balanced
    #[arg(long, value_name = "WHAT", default_value = Favor::default().name())]
    favor: Favor,
    /// After this wait for a container, in milliseconds, an application is placed wherever a node
    /// has free space by request, fit or not; 180000 if not given
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(i64).range(1_000..))]
    pub starvation_wait_ms: Option<i64>,
    /// How many containers a heartbeat may place
    #[arg(long, value_name = "NUMBER", default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..))]
    assignments: u32,
    /// The largest fraction of the network's throughput that contention costs
    #[arg(long, value_name = "FRACTION", default_value_t = Contention::default().network_loss,
          value_parser = part)]
    network_loss: f64,
    /// The largest fraction of the disk's throughput that contention costs
    #[arg(long, value_name = "FRACTION", default_value_t = Contention::default().disk_loss,
          value_parser = part)]
    disk_loss: f64,
    /// A machine slows down by 1 + FACTOR · (memory demand ÷ capacity − 1)
    #[arg(long, value_name = "FACTOR", default_value_t = Contention::default().spill_slowdown,
          value_parser = fraction)]
    spill_slowdown: f64,
    /// Memory demand over capacity above which an executor is killed
    #[arg(long, value_name = "FACTOR", default_value_t = Contention::default().kill_above,
          value_parser = at_least_one)]
    kill_above: f64,
    /// Also simulate heartbeats that cannot change anything; the result is the same
    #[arg(long)]
    pub every_heartbeat: bool,
}

impl RunOptions {
    /// How each run goes; `default` applies where no option is given.
    pub fn settings(&self, default: Settings) -> Settings {
        let cluster = default.cluster;
        Settings {
            contention: self.contention(),
            policy_options: PolicyOptions { peaks: self.peaks, favor: self.favor },
            cluster: ClusterSettings {
                max_ratio: self.max_ratio.unwrap_or(cluster.max_ratio),
                starvation_wait_ms: self.starvation_wait_ms.unwrap_or(cluster.starvation_wait_ms),
                ..cluster
            },
            margin: self.margin.unwrap_or(default.margin),
            others: self.others,
            assignments_per_heartbeat: self.assignments,
            skip_idle_heartbeats: !self.every_heartbeat,
            ..default
        }
    }

    fn contention(&self) -> Contention {
        Contention {
            network_loss: self.network_loss,
            disk_loss: self.disk_loss,
            spill_slowdown: self.spill_slowdown,
            kill_above: self.kill_above,
        }
    }

    /// Applies the errors of the command line to a workload.
    pub fn with_errors(&self, mut workload: Workload) -> Workload {
        for application in &mut workload.applications {
            let own = application.errors;
            let slot = self.noise.map(|noise| Errors::uniform(noise, 0.0).slot);
            application.errors = Errors {
                slot: slot.unwrap_or(own.slot),
                length: self.length_error.unwrap_or(own.length),
            };
        }
        workload
    }

    /// How many runs go on at a time.
    pub fn threads(&self) -> usize {
        usize::from(self.threads)
    }

    /// This number of seeds, from the first one on.
    pub fn seeds(&self, count: u32) -> Vec<u64> {
        let seeds = 0..u64::from(count);
        seeds.map(|more| self.seed.wrapping_add(more)).collect()
    }

    /// Runs the policies on each of `seeds` seeds, with a bar on a terminal. `prepare` gives the
    /// workload and the settings of a seed.
    ///
    /// # Errors
    /// An unknown policy, or a run that cannot be prepared or never ends.
    pub fn compare(
        &self,
        known_policies: Policies,
        policies: &[String],
        seeds: u32,
        recorded_node: Option<usize>,
        prepare: impl Fn(u64) -> Result<(Workload, Settings), Failure>,
    ) -> Result<Comparison, Failure> {
        let mut settings = Settings::default();
        for policy in policies {
            known_policies
                .named(policy, PolicyOptions::default())
                .map_err(|unknown| Failure::BadInput(unknown.to_string()))?;
        }
        let mut runs = Vec::new();
        for seed in self.seeds(seeds) {
            let (workload, prepared) = prepare(seed)?;
            settings = prepared;
            runs.push(SeedRun { seed, workload });
        }
        let experiment = Experiment {
            runs,
            known_policies,
            policies: policies.to_vec(),
            settings: Settings { recorded_node, ..settings },
            threads: self.threads(),
        };
        let bar = bar("executors");
        let compared = experiment.run(&|done, all| {
            bar.set_length(all);
            bar.set_position(done);
        });
        bar.finish_and_clear();
        Ok(compared?)
    }

    /// The JSON report.
    pub fn to_json(&self, comparison: &Comparison) -> Value {
        report::to_json(comparison, self.contention())
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Policy(_)
            | SimulationError::TooLarge { .. }
            | SimulationError::Report { .. } => Failure::BadInput(error.to_string()),
            SimulationError::NeverEnds { .. } => Failure::Failed(error.to_string()),
        }
    }
}

fn number(text: &str, allowed: impl Fn(f64) -> bool, words: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &f64| number.is_finite() && allowed(*number))
        .ok_or_else(|| format!("{words} is allowed"))
}

/// A number of at least 0, from the command line.
///
/// # Errors
/// Other text.
pub fn fraction(text: &str) -> Result<f64, String> {
    number(text, |number| number >= 0.0, "a number of at least 0")
}

fn part(text: &str) -> Result<f64, String> {
    let allowed = |number| (0.0..1.0).contains(&number);
    number(text, allowed, "a number from 0 to below 1")
}

fn at_least_one(text: &str) -> Result<f64, String> {
    number(text, |number| number >= 1.0, "a number of at least 1")
}
