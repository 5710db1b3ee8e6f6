//! `elastane simulate`

use std::io::Write;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use elastane_sim::InputError;
use elastane_sim::report;
use elastane_sim::workload::{TraceFormat, Workload, generate, generate_large};

use crate::failure::{Failure, read};
use crate::simulation::{RunOptions, write};

/// The workload of which `--machines` says how large it is.
const LARGE: &str = "large";

const MACHINES_OF_A_TRACE: usize = 35;

/// What policies make of a workload on a simulated cluster
#[derive(Args)]
#[command(
    group = ArgGroup::new("input").required(true),
    after_help = "Examples:
  elastane simulate --workload elasecutor --policy minfrag,tetris,static
  elastane simulate --workload prophet --policy minfrag --seeds 10 --json prophet.json
  elastane simulate --workload elasecutor --policy minfrag --noise 0.4 --length-error 0.2
  elastane simulate --scenario cluster.json --policy minfrag,static --html report.html
  elastane simulate --swim FB-2010_samples.tsv --machines 100 --policy capacity,minfrag"
)]
pub(crate) struct Simulate {
    /// A workload of the papers: elasecutor, elasecutor-tpch, prophet, ursa-mix or lockstep; or
    /// large, which fills a large cluster for a day
    #[arg(long, value_name = "NAME", group = "input")]
    workload: Option<String>,
    /// Machines and applications in JSON
    #[arg(long, value_name = "FILE", group = "input")]
    scenario: Option<PathBuf>,
    /// Input of Hadoop's scheduler load simulator
    #[arg(long, value_name = "FILE", group = "input")]
    sls: Option<PathBuf>,
    /// A workload of SWIM, tab-separated
    #[arg(long, value_name = "FILE", group = "input")]
    swim: Option<PathBuf>,
    /// One executor's series: t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s
    #[arg(long, value_name = "FILE", group = "input")]
    csv: Option<PathBuf>,
    /// How many machines of 16 cores, 64 GB, 10 Gbit/s and 500 MB/s a trace runs on (35), or the
    /// workload large (10000)
    #[arg(long, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    machines: Option<u32>,
    /// The policies, with commas between them
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "minfrag"
    )]
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

impl Simulate {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let recorded_node = self.html.as_ref().map(|_| 0);
        let input = self.read()?;
        let workload = |seed| match &input {
            Input::Name(name) => {
                let workload = match self.machines {
                    Some(machines) if name == LARGE => generate_large(seed, machines as usize),
                    _ => generate(name, seed),
                };
                workload.map_err(|error| Failure::BadInput(error.to_string()))
            }
            Input::File(workload) => Ok(workload.clone()),
        };
        let compared = self
            .run
            .compare(&self.policy, self.seeds, recorded_node, workload)?;
        report::write_table(output, &compared)?;
        if let Some(path) = &self.json {
            write(path, &format!("{:#}\n", self.run.to_json(&compared)?))?;
        }
        if let Some(path) = &self.html {
            let first = workload(self.run.seed)?;
            write(path, &report::to_html(&compared, &first))?;
        }
        Ok(())
    }

    fn read(&self) -> Result<Input, Failure> {
        if let Some(name) = &self.workload {
            return Ok(Input::Name(name.clone()));
        }
        let machines = self.machines.map_or(MACHINES_OF_A_TRACE, |it| it as usize);
        let trace = |format| {
            move |text: &str| -> Result<Workload, InputError> {
                Workload::from_trace(format, text, machines)
            }
        };
        type Reader = Box<dyn Fn(&str) -> Result<Workload, InputError>>;
        let files: [(&Option<PathBuf>, Reader); 4] = [
            (&self.scenario, Box::new(Workload::from_json)),
            (&self.sls, Box::new(trace(TraceFormat::Sls))),
            (&self.swim, Box::new(trace(TraceFormat::Swim))),
            (&self.csv, Box::new(trace(TraceFormat::Csv))),
        ];
        for (path, reader) in files {
            if let Some(path) = path {
                let workload = reader(&read(path)?).map_err(|error| Failure::bad(path, error))?;
                return Ok(Input::File(workload));
            }
        }
        Err(Failure::BadInput(
            "nothing to simulate was named".to_owned(),
        ))
    }
}

/// What is simulated: generated anew for each seed, or the same for all.
enum Input {
    Name(String),
    File(Workload),
}
