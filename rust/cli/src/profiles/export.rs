//! `elastane profiles export`

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use elastane_predict::{ContainerKind, Run};
use elastane_store::{Access, Depository};
use serde_json::json;

use super::{Source, export_series, file, write_json};
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

impl Kind {
    fn has(self, kind: ContainerKind) -> bool {
        kind.is_application_master() == matches!(self, Kind::ApplicationMaster)
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Executor => ContainerKind::DEFAULT_EXECUTOR.name(),
            Kind::ApplicationMaster => ContainerKind::ApplicationMaster.name(),
        }
    }
}

impl Export {
    pub(super) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let depository = self.source.open(Access::Read)?;
        let keys = self.keys(&depository)?;
        if let Some(file) = &self.file {
            self.write_file(&depository, &keys, file, output)?;
        }
        if let Some(folder) = &self.series {
            self.write_series(&depository, &keys, folder, output)?;
        }
        Ok(())
    }

    fn write_file(
        &self,
        depository: &Depository,
        keys: &[String],
        path: &Path,
        output: &mut impl Write,
    ) -> Result<(), Failure> {
        let mut runs = Vec::new();
        for key in keys {
            runs.extend(oldest_first(depository, key)?);
        }
        write(path, &file::write(&runs)?)?;
        if self.source.json {
            return write_json(
                output,
                &json!({"applications": keys.len(), "runs": runs.len()}),
            );
        }
        let (applications, runs) = (count(keys.len(), "application"), count(runs.len(), "run"));
        Ok(writeln!(
            output,
            "{}: {applications}, {runs}",
            path.display()
        )?)
    }

    fn keys(&self, depository: &Depository) -> Result<Vec<String>, Failure> {
        let known = depository.applications()?.into_iter().map(|a| a.key);
        match &self.key {
            None => Ok(known.collect()),
            Some(key) => {
                let mut known = known;
                let key = known.find(|known| known == key);
                let unknown = || self.source.unknown(self.key.as_deref().unwrap_or_default());
                Ok(vec![key.ok_or_else(unknown)?])
            }
        }
    }

    fn write_series(
        &self,
        depository: &Depository,
        keys: &[String],
        folder: &Path,
        output: &mut impl Write,
    ) -> Result<(), Failure> {
        export_series::check_new(folder)?;
        let (mut applications, mut runs, mut too_short) = (0, 0, 0);
        for key in keys {
            let runs_of_key = oldest_first(depository, key)?;
            let is_wanted = |kind| self.kind.has(kind);
            let exported = export_series::export(folder, key, &runs_of_key, is_wanted)?;
            applications += usize::from(exported.runs > 0);
            runs += exported.runs;
            too_short += exported.too_short;
        }
        if self.source.json {
            let written = json!({
                "applications": applications, "runs": runs, "too_short_runs": too_short,
            });
            return write_json(output, &written);
        }
        let (applications, runs) = (count(applications, "application"), count(runs, "run"));
        writeln!(output, "{}: {applications}, {runs}", folder.display())?;
        if too_short > 0 {
            let kind = self.kind.name();
            let left_out = count(too_short, "run");
            writeln!(output, "{left_out} left out: no {kind} lived for 6 s in it")?;
        }
        Ok(())
    }
}

fn oldest_first(depository: &Depository, key: &str) -> Result<Vec<Run>, Failure> {
    let mut runs = depository.latest_runs(key, usize::MAX)?;
    runs.reverse();
    Ok(runs)
}
