//! `elastane profiles export`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use elastane_store::Access;
use serde_json::json;

use super::{ProfileSource, file, write_json};
use crate::failure::{Failure, write};
use crate::units::count;

#[derive(Args)]
#[command(after_help = "Examples:
  elastane profiles export 'tag|alice|nightly' --file nightly.json --depository depository.db
  elastane profiles export --all --file profiles.json --depository depository.db")]
pub(super) struct Export {
    /// The application's key, as `list` prints it
    #[arg(required_unless_present = "all")]
    key: Option<String>,
    /// Every application
    #[arg(long, conflicts_with = "key")]
    all: bool,
    /// Write every run into this JSON file, which `import` reads
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    source: ProfileSource,
}

impl Export {
    pub(super) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let depository = self.source.open(Access::Read)?;
        let mut keys: Vec<String> = depository.applications()?.into_iter().map(|a| a.key).collect();
        if let Some(key) = &self.key {
            keys.retain(|known| known == key);
            if keys.is_empty() {
                return Err(self.source.unknown(key));
            }
        }
        let mut runs = Vec::new();
        for key in &keys {
            runs.extend(depository.latest_runs(key, usize::MAX)?.into_iter().rev());
        }
        write(&self.file, &file::write(&runs)?)?;
        if self.source.json {
            let written = json!({"applications": keys.len(), "runs": runs.len()});
            return write_json(output, &written);
        }
        let (applications, runs) = (count(keys.len(), "application"), count(runs.len(), "run"));
        Ok(writeln!(output, "{}: {applications}, {runs}", self.file.display())?)
    }
}
