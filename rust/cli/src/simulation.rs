//! What `elastane simulate` and `elastane reproduce` share: settings, seeds and the run.

use std::fs;
use std::path::Path;

use clap::{Args, ValueEnum};
use elastane_core::DemandError;
use elastane_core::fit::Peaks;
use elastane_core::policy::{Favor, PolicyOptions, names};
use elastane_sim::experiment::{Comparison, Experiment, Run};
use elastane_sim::report;
use elastane_sim::reproduce::Setup;
use elastane_sim::simulator::{Contention, Settings, SimulationError};
use elastane_sim::workload::{Errors, Workload};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::failure::Failure;

/// How each run goes.
#[derive(Args)]
pub(crate) struct RunOptions {
    /// The first seed
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub(crate) seed: u64,
    /// How many runs go on at a time
    #[arg(long, value_name = "NUMBER", default_value = "2",
          value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// The standard deviation of what an executor uses in a slot from what is predicted, as a
    /// fraction, instead of the workload's own
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    noise: Option<f64>,
    /// The standard deviation of an executor's length from what is predicted, as a fraction,
    /// instead of the workload's own
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    length_error: Option<f64>,
    /// What the fit adds to each demand, as a fraction
    #[arg(long, value_name = "FRACTION", default_value = "0", value_parser = fraction)]
    margin: f64,
    /// What becomes of peaks in CPU, network and disk that meet; the policy's own rule by default
    #[arg(long, value_name = "RULE")]
    peaks: Option<PeaksRule>,
    /// What the policy elastane is to make short: makespan, completion (the mean time to the end of
    /// an application) or balanced
    #[arg(long, value_name = "WHAT", default_value = Favor::default().name())]
    favor: Favor,
    /// How long an executor may wait for a better node, in milliseconds
    #[arg(long, value_name = "MS", default_value = "0",
          value_parser = clap::value_parser!(i64).range(0..=60_000))]
    pass_ms: i64,
    /// How long an application waits for its next container until it passes, fit or not, where a
    /// node has free space by request, in milliseconds; where it is not given 60000, and for ever
    /// in reproduce
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(i64).range(1_000..))]
    starvation_wait_ms: Option<i64>,
    /// How many containers a heartbeat may place
    #[arg(long, value_name = "NUMBER", default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..))]
    assignments: u32,
    /// Part of the network's throughput that contention can take
    #[arg(long, value_name = "FRACTION", default_value_t = Contention::default().network_loss,
          value_parser = part)]
    network_loss: f64,
    /// Part of the disk's throughput that contention can take
    #[arg(long, value_name = "FRACTION", default_value_t = Contention::default().disk_loss,
          value_parser = part)]
    disk_loss: f64,
    /// How many times longer everything takes for memory wanted beyond what there is, over what
    /// there is
    #[arg(long, value_name = "FACTOR", default_value_t = Contention::default().spill_slowdown,
          value_parser = fraction)]
    spill_slowdown: f64,
    /// Memory wanted over what there is, from which on an executor is killed
    #[arg(long, value_name = "FACTOR", default_value_t = Contention::default().kill_above,
          value_parser = at_least_one)]
    kill_above: f64,
    /// Simulate heartbeats that cannot change anything, too; the result is the same
    #[arg(long)]
    every_heartbeat: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PeaksRule {
    /// They must not, as in the papers
    Strict,
    /// By a fifth of the node, as in the house policy
    Soft,
    /// They stretch both
    Stretch,
}

impl From<PeaksRule> for Peaks {
    fn from(rule: PeaksRule) -> Self {
        match rule {
            PeaksRule::Strict => Peaks::Strict,
            PeaksRule::Soft => Peaks::Soft,
            PeaksRule::Stretch => Peaks::Stretch,
        }
    }
}

impl RunOptions {
    fn settings(&self) -> Settings {
        Settings {
            contention: Contention {
                network_loss: self.network_loss,
                disk_loss: self.disk_loss,
                spill_slowdown: self.spill_slowdown,
                kill_above: self.kill_above,
            },
            policy_options: PolicyOptions {
                peaks: self.peaks.map(Peaks::from),
                favor: self.favor,
            },
            pass_ms: self.pass_ms,
            starvation_wait_ms: self
                .starvation_wait_ms
                .unwrap_or(Settings::default().starvation_wait_ms),
            margin: self.margin,
            assignments_per_heartbeat: self.assignments,
            skip_idle_heartbeats: !self.every_heartbeat,
            ..Settings::default()
        }
    }

    fn with_errors(&self, mut workload: Workload) -> Workload {
        for application in &mut workload.applications {
            let own = application.errors;
            application.errors = Errors {
                slot: self
                    .noise
                    .map_or(own.slot, |noise| Errors::uniform(noise, 0.0).slot),
                length: self.length_error.unwrap_or(own.length),
            };
        }
        workload
    }

    pub(crate) fn threads(&self) -> usize {
        usize::from(self.threads)
    }

    /// So many, from the first on.
    pub(crate) fn seeds(&self, count: u32) -> Vec<u64> {
        let seeds = 0..u64::from(count);
        seeds.map(|more| self.seed.wrapping_add(more)).collect()
    }

    pub(crate) fn names_starvation_wait(&self) -> bool {
        self.starvation_wait_ms.is_some()
    }

    /// For a run that knows only seeds and threads.
    pub(crate) fn refuse_changes(&self, why: &str) -> Result<(), Failure> {
        let as_always = self.noise.is_none()
            && self.length_error.is_none()
            && !self.every_heartbeat
            && self.starvation_wait_ms.is_none()
            && self.settings() == Settings::default();
        if as_always {
            Ok(())
        } else {
            let allowed = "--seeds, --seed, --threads and --json are allowed";
            Err(Failure::BadInput(format!("{why}: {allowed}")))
        }
    }

    /// Runs the policies on the workload of each of `seeds` seeds, with a bar on a terminal.
    pub(crate) fn compare(
        &self,
        policies: &[String],
        seeds: u32,
        recorded_node: Option<usize>,
        workload: impl Fn(u64) -> Result<Workload, Failure>,
    ) -> Result<Comparison, Failure> {
        self.compare_changed(policies, seeds, recorded_node, &|_| Ok(()), workload)
    }

    /// The same, with each run changed before it starts.
    pub(crate) fn compare_changed(
        &self,
        policies: &[String],
        seeds: u32,
        recorded_node: Option<usize>,
        change: &dyn Fn(&mut Setup) -> Result<(), DemandError>,
        workload: impl Fn(u64) -> Result<Workload, Failure>,
    ) -> Result<Comparison, Failure> {
        for policy in policies {
            if !names().contains(&policy.as_str()) {
                let name = policy.clone();
                let unknown = elastane_core::policy::UnknownPolicy { name };
                return Err(Failure::BadInput(unknown.to_string()));
            }
        }
        let mut settings = self.settings();
        let mut runs = Vec::new();
        for seed in self.seeds(seeds) {
            let mut setup = Setup {
                workload: self.with_errors(workload(seed)?),
                settings: self.settings(),
            };
            change(&mut setup).map_err(|error| Failure::Failed(error.to_string()))?;
            settings = setup.settings;
            let workload = setup.workload;
            runs.push(Run { seed, workload });
        }
        let experiment = Experiment {
            runs,
            policies: policies.to_vec(),
            settings: Settings {
                recorded_node,
                ..settings
            },
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
    pub(crate) fn to_json(&self, comparison: &Comparison) -> Result<Value, Failure> {
        let contention = self.settings().contention;
        Ok(report::to_json(comparison, contention)?)
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Policy(_) | SimulationError::TooLarge { .. } => {
                Failure::BadInput(error.to_string())
            }
            SimulationError::NeverEnds { .. } => Failure::Failed(error.to_string()),
        }
    }
}

/// Writes a file that was named on the command line.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))
}

/// Drawn on stderr, and only where that is a terminal.
pub(crate) fn bar(of_what: &str) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let template =
        format!("{{wide_bar}} {{percent:>3}} %  {{pos}}/{{len}} {of_what}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

fn number(text: &str, allowed: impl Fn(f64) -> bool, words: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &f64| number.is_finite() && allowed(*number))
        .ok_or_else(|| format!("{words} is allowed"))
}

fn fraction(text: &str) -> Result<f64, String> {
    number(text, |number| number >= 0.0, "a number of at least 0")
}

fn part(text: &str) -> Result<f64, String> {
    let allowed = |number| (0.0..1.0).contains(&number);
    number(text, allowed, "a number from 0 to below 1")
}

fn at_least_one(text: &str) -> Result<f64, String> {
    number(text, |number| number >= 1.0, "a number of at least 1")
}

#[cfg(test)]
impl RunOptions {
    /// As a command line has them.
    pub(crate) fn parsed(options: &[&str]) -> Self {
        #[derive(clap::Parser)]
        struct Command {
            #[command(flatten)]
            run: RunOptions,
        }
        let command: Command = clap::Parser::parse_from([&["test"], options].concat());
        command.run
    }
}
