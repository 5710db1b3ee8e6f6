//! `elastane simulate`, and its parts that `elastane-lab simulate` shares.

use std::io::Write;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use elastane_sim::report;
use elastane_sim::simulator::{Policies, Settings};
use elastane_sim::workload::{TraceFormat, Workload};

use crate::failure::{Failure, read, write};
use crate::run_options::RunOptions;

/// The group of options that name the input; exactly one is given.
pub const INPUT: &str = "input";

const MACHINES_OF_A_TRACE: usize = 35;

const EXAMPLES: &str = "Examples:
  elastane simulate --scenario cluster.json --policy elastane,minfrag --html report.html
  elastane simulate --scenario cluster.json --policy elastane --noise 0.4 --length-error 0.2
  elastane simulate --swim FB-2010_samples.tsv --machines 100 --policy elastane,minfrag";

/// Runs a scenario or a trace on a simulated cluster under one or several policies
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new(INPUT).required(true),
    after_help = format!("Policies: {}\n\n{EXAMPLES}", Policies::default().names().join(", "))
)]
pub struct Simulate {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    comparison: ComparisonOptions,
}

/// A file with the input of a simulation.
#[derive(Debug, Args)]
pub struct Files {
    /// Machines and applications in JSON
    #[arg(long, value_name = "FILE", group = INPUT)]
    scenario: Option<PathBuf>,
    /// Input of Hadoop's scheduler load simulator
    #[arg(long, value_name = "FILE", group = INPUT)]
    sls: Option<PathBuf>,
    /// A workload of SWIM, tab-separated
    #[arg(long, value_name = "FILE", group = INPUT)]
    swim: Option<PathBuf>,
    /// One executor's series: t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s
    #[arg(long, value_name = "FILE", group = INPUT)]
    csv: Option<PathBuf>,
    /// On how many machines of 16 cores, 64 GB, 10 Gbit/s and 500 MB/s a trace runs; 35 if not given
    #[arg(long, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub machines: Option<u32>,
}

impl Files {
    /// The workload of the given file, if any.
    ///
    /// # Errors
    /// The first error in the file, with its place.
    pub fn read(&self) -> Result<Option<Workload>, Failure> {
        let machines = self.machines.map_or(MACHINES_OF_A_TRACE, |it| it as usize);
        let files = [
            (&self.scenario, None),
            (&self.sls, Some(TraceFormat::Sls)),
            (&self.swim, Some(TraceFormat::Swim)),
            (&self.csv, Some(TraceFormat::Csv)),
        ];
        for (path, format) in files {
            let Some(path) = path else {
                continue;
            };
            let text = read(path)?;
            let workload = match format {
                None => Workload::from_json(&text),
                Some(format) => Workload::from_trace(format, &text, machines),
            };
            return Ok(Some(workload.map_err(|error| Failure::bad(path, error))?));
        }
        Ok(None)
    }
}

/// The options of a comparison and of its reports.
#[derive(Debug, Args)]
pub struct ComparisonOptions {
    /// The policies, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "elastane")]
    policy: Vec<String>,
    /// How many seeds, from --seed on
    #[arg(long, value_name = "NUMBER", default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    seeds: u32,
    #[command(flatten)]
    run: RunOptions,
    /// Write all figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a report with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl ComparisonOptions {
    /// Compares the policies on the workload of each seed, and writes the table and the reports.
    ///
    /// # Errors
    /// The input is invalid, or a run never ends.
    pub fn run(
        &self,
        known_policies: Policies,
        workload: impl Fn(u64) -> Result<Workload, Failure>,
        output: &mut impl Write,
    ) -> Result<(), Failure> {
        let recorded_node = self.html.as_ref().map(|_| 0);
        let prepare = |seed| {
            let workload = self.run.with_errors(workload(seed)?);
            Ok((workload, self.run.settings(Settings::default())))
        };
        let (policies, seeds) = (&self.policy, self.seeds);
        let compared = self.run.compare(known_policies, policies, seeds, recorded_node, prepare)?;
        report::write_table(output, &compared)?;
        if let Some(path) = &self.json {
            write(path, &format!("{:#}\n", self.run.to_json(&compared)))?;
        }
        if let Some(path) = &self.html {
            let first = workload(self.run.seed)?;
            write(path, &report::to_html(&compared, &first))?;
        }
        Ok(())
    }
}

impl Simulate {
    /// Compares the policies on the file.
    ///
    /// # Errors
    /// The input is invalid, or a run never ends.
    pub fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let Some(workload) = self.files.read()? else {
            return Err(Failure::BadInput("no input was given".to_owned()));
        };
        let workload = |_| Ok(workload.clone());
        self.comparison.run(Policies::default(), workload, output)
    }
}
