//! `elastane profiles export`

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use elastane_predict::{ContainerKind, Run};
use elastane_store::Access;
use serde_json::json;

use super::export_series::{self, Exported};
use super::{Source, file, write_json};
use crate::failure::{Failure, write};
use crate::units::count;

#[derive(Args)]
#[command(after_help = "Examples:
  elastane profiles export 'tag|nightly' --file nightly.json --depository depository.db
  elastane profiles export --all --series series --depository depository.db
  elastane-lab evaluate series")]
pub(super) struct Export {
    /// The application's key, as `list` prints it
    #[arg(required_unless_present = "all")]
    key: Option<String>,
    /// Every application
    #[arg(long, conflicts_with = "key")]
    all: bool,
    /// Write every run into this JSON file, which `import` reads
    #[arg(long, value_name = "FILE", required_unless_present = "series")]
    file: Option<PathBuf>,
    /// Write the folder format of `elastane-lab evaluate` into this new folder
    #[arg(long, value_name = "DIR")]
    series: Option<PathBuf>,
    /// Which containers the series are of; executors of several priorities have a folder each
    #[arg(long, default_value = "executor", requires = "series")]
    kind: Kind,
    #[command(flatten)]
    source: Source,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Executor,
    ApplicationMaster,
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
        let oldest_first = |key: &String| -> Result<Vec<Run>, Failure> {
            let mut runs = depository.latest_runs(key, usize::MAX)?;
            runs.reverse();
            Ok(runs)
        };
        if let Some(file) = &self.file {
            let runs = keys.iter().map(oldest_first).collect::<Result<Vec<_>, _>>()?.concat();
            write(file, &file::write(&runs)?)?;
            self.report(file, keys.len(), runs.len(), None, output)?;
        }
        if let Some(folder) = &self.series {
            export_series::check_new(folder)?;
            let is_master = matches!(self.kind, Kind::ApplicationMaster);
            let is_wanted = |kind: ContainerKind| kind.is_application_master() == is_master;
            let (mut applications, mut all) = (0, Exported::default());
            for key in &keys {
                let exported = export_series::export(folder, key, &oldest_first(key)?, is_wanted)?;
                applications += usize::from(exported.runs > 0);
                all.runs += exported.runs;
                all.too_short += exported.too_short;
            }
            self.report(folder, applications, all.runs, Some(all.too_short), output)?;
        }
        Ok(())
    }

    fn report(
        &self,
        path: &Path,
        applications: usize,
        runs: usize,
        too_short: Option<usize>,
        output: &mut impl Write,
    ) -> Result<(), Failure> {
        if self.source.json {
            let mut written = json!({"applications": applications, "runs": runs});
            if let Some(too_short) = too_short {
                written["too_short_runs"] = json!(too_short);
            }
            return write_json(output, &written);
        }
        let (path, applications) = (path.display(), count(applications, "application"));
        writeln!(output, "{path}: {applications}, {}", count(runs, "run"))?;
        if let Some(too_short @ 1..) = too_short {
            let kind = match self.kind {
                Kind::Executor => ContainerKind::DEFAULT_EXECUTOR,
                Kind::ApplicationMaster => ContainerKind::ApplicationMaster,
            };
            let (left_out, kind) = (count(too_short, "run"), kind.name());
            writeln!(output, "{left_out} left out: no {kind} lived for 6 s in it")?;
        }
        Ok(())
    }
}
