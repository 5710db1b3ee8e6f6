//! `elastane depository`

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use elastane_store::{Access, Depository};

use crate::failure::Failure;
use crate::units::count;

/// Copies and merges depositories
#[derive(Args)]
#[command(after_help = "Examples:
  elastane depository merge depository.db /backup/depository.db
  elastane depository merge all.db cluster-a.db cluster-b.db
  elastane depository snapshot depository.db /backup/depository.db")]
pub(crate) struct DepositoryCommand {
    #[command(subcommand)]
    action: DepositoryAction,
}

#[derive(Subcommand)]
enum DepositoryAction {
    /// Add the runs of other depositories; existing runs stay
    Merge {
        /// The depository to add to; created if missing
        into: PathBuf,
        /// The depositories to read
        #[arg(required = true)]
        from: Vec<PathBuf>,
    },
    /// Copy a depository to another file, also while a scheduler uses it
    Snapshot {
        /// The depository
        of: PathBuf,
        /// The file to write; an existing one is replaced
        to: PathBuf,
    },
}

impl DepositoryCommand {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        match &self.action {
            DepositoryAction::Merge { into, from } => merge(into, from, output),
            DepositoryAction::Snapshot { of, to } => {
                Depository::open_existing(of, Access::Read)?.snapshot(to)?;
                Ok(writeln!(output, "{}: written", to.display())?)
            }
        }
    }
}

fn merge(into: &Path, from: &[PathBuf], output: &mut impl Write) -> Result<(), Failure> {
    // A wrong FROM must not leave an empty INTO behind.
    for path in from {
        Depository::open_existing(path, Access::Read)?;
    }
    let mut depository = open_or_create(into)?;
    for path in from {
        let report = depository.merge(path)?;
        let (path, added) = (path.display(), count(report.added, "run"));
        let kept = report.kept;
        writeln!(output, "{path}: {added} added, {kept} were there already")?;
    }
    Ok(())
}

/// Opens a depository to write to, or creates it. A damaged one is an error and stays as it is.
pub(crate) fn open_or_create(path: &Path) -> Result<Depository, Failure> {
    Ok(match path.exists() {
        true => Depository::open_existing(path, Access::Write)?,
        false => Depository::open(path)?.depository,
    })
}
