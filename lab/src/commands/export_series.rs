//! `elastane-lab export-series`

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use elastane_cli::failure::{Failure, write};
use elastane_cli::units::count;
use elastane_core::{Demand, SLOT_MS};
use elastane_predict::{ContainerKind, Run, RunSeries};
use elastane_store::{Access, Depository};
use serde_json::{Map, Value, json};

use super::series_format::{SETTINGS, to_csv};

/// Maximum length of a folder name; file systems allow 255 bytes.
const LONGEST_NAME: usize = 100;

/// Writes the runs of a depository as the folder that `evaluate` reads
#[derive(Args)]
#[command(after_help = "Examples:
  elastane-lab export-series series --depository depository.db
  elastane-lab export-series series --key 'tag|alice|nightly' --depository depository.db
  elastane-lab evaluate series")]
pub(crate) struct ExportSeries {
    /// A new folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The scheduler's depository
    #[arg(long, value_name = "FILE")]
    depository: PathBuf,
    /// Only this application, by its key as `elastane profiles list` prints it
    #[arg(long)]
    key: Option<String>,
    /// Which containers the series are of; executors of several priorities have a folder each
    #[arg(long, default_value = "executor")]
    kind: ExportedKind,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ExportedKind {
    Executor,
    ApplicationMaster,
}

impl ExportSeries {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let depository = Depository::open_existing(&self.depository, Access::Read)?;
        let mut keys: Vec<String> = depository.applications()?.into_iter().map(|a| a.key).collect();
        if let Some(key) = &self.key {
            keys.retain(|known| known == key);
            if keys.is_empty() {
                return Err(Failure::bad(&self.depository, format!("no run of {key:?}")));
            }
        }
        check_new(&self.folder)?;
        let is_master = self.kind == ExportedKind::ApplicationMaster;
        let is_wanted = |kind: ContainerKind| kind.is_application_master() == is_master;
        let (mut applications, mut all) = (0, Exported::default());
        for key in &keys {
            let mut runs = depository.latest_runs(key, usize::MAX)?;
            runs.reverse();
            let exported = export(&self.folder, key, &runs, is_wanted)?;
            applications += usize::from(exported.runs > 0);
            all.runs += exported.runs;
            all.too_short += exported.too_short;
        }
        let (applications, runs) = (count(applications, "application"), count(all.runs, "run"));
        writeln!(output, "{}: {applications}, {runs}", self.folder.display())?;
        if all.too_short > 0 {
            let left_out = count(all.too_short, "run");
            let kind = if is_master { "application master" } else { "executor" };
            writeln!(output, "{left_out} left out: no {kind} lived for 6 s in it")?;
        }
        Ok(())
    }
}

/// The files written for an application.
#[derive(Default)]
struct Exported {
    runs: usize,
    /// Runs without a container of a wanted kind that lived for two slots.
    too_short: usize,
}

/// Writes the runs of an application, oldest first, into a new folder in `folder` for each wanted kind
/// of container. Without a run of two slots, no folder is created.
fn export(
    folder: &Path,
    key: &str,
    runs_oldest_first: &[Run],
    is_wanted: impl Fn(ContainerKind) -> bool,
) -> Result<Exported, Failure> {
    let mut exported = Exported::default();
    let mut files: BTreeMap<ContainerKind, Vec<(String, String, Value)>> = BTreeMap::new();
    for run in runs_oldest_first {
        let is_long = |it: &&RunSeries| is_wanted(it.kind) && it.slots.len() > 1;
        let mut long = run.series.iter().filter(is_long).peekable();
        if long.peek().is_none() {
            exported.too_short += 1;
            continue;
        }
        exported.runs += 1;
        // Names must sort by time, and ids grow longer after the 9999th.
        let name = format!("{:05}-{}", exported.runs, safe(&run.application_id));
        for series in long {
            let slots: Vec<_> = series.slots.iter().map(|slot| slot.map(shortest)).collect();
            let used = Demand::series(SLOT_MS, &slots).map_err(|error| {
                Failure::Failed(format!("{key}: run {}: {error}", run.application_id))
            })?;
            let file = (name.clone(), to_csv(&used), about(run, series));
            files.entry(series.kind).or_default().push(file);
        }
    }
    let kinds: Vec<_> = files.keys().copied().collect();
    for (kind, files) in files {
        let name = match kind.priority() {
            Some(priority) if kinds.len() > 1 => format!("{}-priority-{priority}", safe(key)),
            _ => safe(key),
        };
        let kind = kind.among(kinds.iter().copied());
        write_folder(&new_folder(folder, &name)?, key, &kind, files)?;
    }
    Ok(exported)
}

fn write_folder(
    folder: &Path,
    key: &str,
    kind: &str,
    files: Vec<(String, String, Value)>,
) -> Result<(), Failure> {
    let mut settings = Map::new();
    for (name, csv, about) in files {
        write(&folder.join(format!("{name}.csv")), &csv)?;
        settings.insert(name, about);
    }
    let settings = json!({"key": key, "kind": kind, "runs": settings});
    write(&folder.join(SETTINGS), &format!("{settings:#}\n"))
}

/// The shortest decimal with the same 32-bit float, which is what the depository stores.
fn shortest(amount: f64) -> f64 {
    (amount as f32).to_string().parse().unwrap_or(amount)
}

fn about(run: &Run, series: &RunSeries) -> Value {
    let mut about = json!({
        "outcome": run.outcome.name(),
        "application_id": run.application_id,
        "name": run.application_name,
        "started_ms": run.started_ms,
        "ended_ms": run.ended_ms,
        "containers": series.containers,
    });
    if !series.stage_ends_ms.is_empty() {
        about["stage_ends_ms"] = json!(series.stage_ends_ms);
    }
    about
}

/// A name that is valid on every file system and needs no quoting in a shell.
fn safe(name: &str) -> String {
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
    let mut safe = String::new();
    for letter in name.chars() {
        if is_safe(letter) {
            safe.push(letter);
        } else if !safe.ends_with('_') {
            safe.push('_');
        }
    }
    safe.truncate(LONGEST_NAME);
    safe.trim_matches(['.', '_']).to_owned()
}

/// Different keys can have the same safe name, so the later one gets a number.
fn new_folder(parent: &Path, name: &str) -> Result<PathBuf, Failure> {
    fs::create_dir_all(parent).map_err(|error| Failure::bad(parent, error))?;
    let name = if name.is_empty() { "application" } else { name };
    let mut folder = parent.join(name);
    for number in 2_u64.. {
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                folder = parent.join(format!("{name}-{number}"));
            }
            Err(error) => return Err(Failure::bad(&folder, error)),
            Ok(()) => break,
        }
    }
    Ok(folder)
}

/// Creates the folder of an export; it must be new, so that runs of two exports never mix.
fn check_new(folder: &Path) -> Result<(), Failure> {
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let problem = "it is not empty, a new or an empty folder is needed";
            Err(Failure::bad(folder, problem))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Failure::bad(folder, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_are_safe() {
        assert_eq!(safe("app|SPARK|a/b|root.etl|--day # x"), "app_SPARK_a_b_root.etl_--day_x");
        assert_eq!(safe("../.."), "");
        assert_eq!(safe(&"é|x".repeat(100)).len(), LONGEST_NAME - 1);
    }

    #[test]
    fn two_keys_with_one_safe_name_have_folders_of_their_own() {
        let parent = tempfile::tempdir().unwrap();
        let names: Vec<_> = ["a|b", "a/b", "", "|"]
            .into_iter()
            .map(|key| new_folder(parent.path(), &safe(key)).unwrap())
            .map(|folder| folder.file_name().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["a_b", "a_b-2", "application", "application-2"]);
    }
}
