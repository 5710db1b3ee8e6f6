//! `elastane import`

mod report;
mod spark;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::failure::Failure;

/// Imports runs from before Elastane was installed
#[derive(Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    source: LogSource,
}

#[derive(Subcommand)]
enum LogSource {
    /// Runs from the event logs that Spark wrote
    #[command(
        after_help = "PATH is a log, the folder of a rolling log, or a folder of both, such as a History Server's.
Logs in progress are left out. Exit code 1: a log could not be read; the others were imported.

Examples:
  elastane import spark-eventlog /spark-history --dry-run
  elastane import spark-eventlog /spark-history --depository depository.db
  elastane import spark-eventlog app.zstd --depository depository.db --queue etl=root.a.etl"
    )]
    SparkEventlog(SparkEventlog),
}

#[derive(Args)]
pub(crate) struct SparkEventlog {
    /// Logs, or folders of logs
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// The depository to add the runs to; created if missing
    #[arg(long, value_name = "FILE", required_unless_present = "dry_run")]
    depository: Option<PathBuf>,
    /// Read and report, change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The full path of a queue that the log names by its last part
    #[arg(long, value_name = "QUEUE=PATH", value_parser = pair)]
    queue: Vec<(String, String)>,
    /// The name given to spark-submit, for a name that the program set
    #[arg(long, value_name = "LOGGED=SUBMITTED", value_parser = pair)]
    name: Vec<(String, String)>,
}

impl Import {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let LogSource::SparkEventlog(logs) = &self.source;
        logs.run(output)
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .filter(|(from, to)| !from.is_empty() && !to.is_empty())
        .map(|(from, to)| (from.to_owned(), to.to_owned()))
        .ok_or_else(|| "two words with a = between them are allowed".to_owned())
}
