//! `elastane profiles`

mod explain;
mod explain_prediction;
mod export;
mod file;
mod import;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use elastane_core::{Demand, Resource};
use elastane_predict::progress::mean;
use elastane_predict::{Exclusion, Prediction, Profile, ProfileSettings, profile};
use elastane_store::{Access, Depository};
use serde_json::{Value, json};

use crate::failure::{Failure, write};
use crate::units::{amount, count, duration, moment};
use crate::{plot, plot_svg};

/// Shows and edits what was learned of applications
#[derive(Args)]
#[command(after_help = "Examples:
  elastane profiles list --depository depository.db
  elastane profiles show 'tag|alice|nightly' --depository depository.db
  elastane profiles explain application_1795283369712_0007 --depository depository.db
  elastane profiles export --all --file profiles.json --depository depository.db
  elastane profiles import profiles.json --depository depository.db
  elastane profiles forget 'tag|alice|nightly' --yes --depository depository.db")]
pub struct Profiles {
    #[command(subcommand)]
    action: ProfilesAction,
}

#[derive(Subcommand)]
enum ProfilesAction {
    /// List the applications: key, latest name, runs
    List {
        #[command(flatten)]
        source: ProfileSource,
    },
    /// Show the profile of one application, as a plot per resource
    Show {
        /// The application's key, as `list` prints it
        key: String,
        /// How many of the latest succeeded runs make the profile
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
        runs: u16,
        /// Write the plots into this file, as an SVG image
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
        #[command(flatten)]
        source: ProfileSource,
    },
    /// Explain one run: its key, its prediction, and how the prediction turned out
    Explain(explain::Explain),
    /// Write the runs of one or every application to a file
    Export(export::Export),
    /// Add the runs of a file that `export` wrote; existing runs stay
    Import(import::ProfilesImport),
    /// Remove one application with all of its runs
    Forget {
        /// The application's key, as `list` prints it
        key: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        source: ProfileSource,
    },
}

#[derive(Args)]
struct ProfileSource {
    /// The scheduler's depository
    #[arg(long, value_name = "FILE")]
    depository: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ProfileSource {
    fn open(&self, access: Access) -> Result<Depository, Failure> {
        Ok(Depository::open_existing(&self.depository, access)?)
    }

    fn unknown(&self, key: &str) -> Failure {
        let problem = format!("no run of {key:?}; `elastane profiles list` prints every key");
        Failure::bad(&self.depository, problem)
    }
}

impl Profiles {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// Wrong input, or a depository that cannot be read or written.
    pub fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        match &self.action {
            ProfilesAction::List { source } => list(source, output),
            ProfilesAction::Show { key, runs, svg, source } => {
                show(key, usize::from(*runs), svg.as_deref(), source, output)
            }
            ProfilesAction::Explain(explain) => explain.run(output),
            ProfilesAction::Import(import) => import.run(output),
            ProfilesAction::Export(export) => export.run(output),
            ProfilesAction::Forget { key, yes, source } => forget(key, *yes, source, output),
        }
    }
}

fn list(source: &ProfileSource, output: &mut impl Write) -> Result<(), Failure> {
    let applications = source.open(Access::Read)?.applications()?;
    if source.json {
        let json = applications.iter().map(
            |a| json!({"key": a.key, "name": a.name, "runs": a.runs, "latest_ms": a.latest_ms}),
        );
        return write_json(output, &json.collect());
    }
    if applications.is_empty() {
        writeln!(output, "no application has run yet")?;
    }
    for application in applications {
        let (runs, name) = (count(application.runs, "run"), application.name);
        let latest = moment(application.latest_ms);
        writeln!(output, "{}", application.key)?;
        writeln!(output, "    {runs}, the latest ended {latest}: {name}")?;
    }
    Ok(())
}

fn show(
    key: &str,
    runs: usize,
    svg: Option<&Path>,
    source: &ProfileSource,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let depository = source.open(Access::Read)?;
    let latest = depository.latest_runs(key, 1)?.pop().ok_or_else(|| source.unknown(key))?;
    let settings = ProfileSettings {
        runs,
        margin: 0.0,
        // The profile is shown whatever its confidence.
        least_confidence: 0.0,
        others: false,
    };
    let runs = depository.latest_succeeded_runs(key, settings.runs_looked_at())?;
    let Some(made) = profile(key, &runs, &settings) else {
        let problem = format!("{key}: no run succeeded yet, so there is no profile");
        return Err(Failure::Failed(problem));
    };
    let kinds = || made.kinds.keys().copied();
    if let Some(path) = svg {
        let series: Vec<_> = made
            .all_planned()
            .map(|(kind, planned)| (kind.among(kinds()), &planned.demand))
            .collect();
        write(path, &plot_svg::svg(key, &series))?;
    }
    if source.json {
        return write_json(output, &profile_json(&made, &latest.application_name));
    }
    writeln!(output, "{key}")?;
    writeln!(output, "name     {}", latest.application_name)?;
    writeln!(output, "profile  of {}", count(made.runs(), "run"))?;
    for (kind, run) in made.left_out.iter().filter(|(_, run)| run.reason != Exclusion::Old) {
        writeln!(output, "left out {}, {}: {}", run.id, kind.among(kinds()), run.reason)?;
    }
    for (kind, planned) in made.all_planned() {
        show_planned(&kind.among(kinds()), planned, output)?;
    }
    Ok(())
}

fn show_planned(kind: &str, planned: &Prediction, output: &mut impl Write) -> Result<(), Failure> {
    let (demand, confidence) = (&planned.demand, planned.confidence);
    let length = duration(demand.duration_ms().unwrap_or_default());
    writeln!(output, "\n{kind}, {length}, confidence {confidence:.2}")?;
    let mean = mean(demand.slots());
    for resource in Resource::ALL {
        let values = column(demand, resource);
        let words = |value: f64| amount(resource, value);
        let (mean, most) = (mean.get(resource), demand.peak().get(resource));
        if most == 0.0 {
            writeln!(output, "\n  {}: none was measured", resource.name())?;
            continue;
        }
        let (mean, most) = (words(mean), words(most));
        writeln!(output, "\n  {}: mean {mean}, most {most}", resource.name())?;
        plot::draw(output, &values, demand.slot_ms(), words)?;
    }
    Ok(())
}

fn column(demand: &Demand, resource: Resource) -> Vec<f64> {
    let slots = demand.slots().iter();
    slots.map(|slot| slot.get(resource)).collect()
}

fn profile_json(profile: &Profile, name: &str) -> Value {
    let demands = profile.all_planned().map(|(kind, planned)| {
        let demand = &planned.demand;
        json!({
            "kind": kind.name(),
            "priority": kind.priority(),
            "confidence": planned.confidence,
            "made_from": planned.runs,
            "slot_ms": demand.slot_ms(),
            "cpu_cores": column(demand, Resource::Cpu),
            "memory_bytes": column(demand, Resource::Memory),
            "network_bytes_per_s": column(demand, Resource::Network),
            "disk_bytes_per_s": column(demand, Resource::Disk),
        })
    });
    json!({
        "key": profile.key,
        "name": name,
        "runs": profile.runs(),
        "demands": demands.collect::<Vec<_>>(),
    })
}

fn forget(
    key: &str,
    yes: bool,
    source: &ProfileSource,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let mut depository = source.open(Access::Write)?;
    let known = depository.applications()?;
    let known = known.into_iter().find(|application| application.key == key);
    let runs = known.ok_or_else(|| source.unknown(key))?.runs;
    if !yes && !confirmed(key, runs)? {
        return Err(Failure::Failed(format!("{key}: nothing was forgotten")));
    }
    let forgotten = depository.forget(key)?;
    if source.json {
        return write_json(output, &json!({"key": key, "forgotten_runs": forgotten}));
    }
    let runs = count(forgotten, "run");
    Ok(writeln!(output, "{runs} of {key} forgotten")?)
}

/// Asks for confirmation; scripts must pass `--yes`.
fn confirmed(key: &str, runs: usize) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        let problem = "nobody can be asked here, --yes is needed to forget";
        return Err(Failure::BadInput(format!("{key}: {problem}")));
    }
    eprint!("forget {} of {key}? [y/N] ", count(runs, "run"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn write_json(output: &mut impl Write, value: &Value) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *output, value)?;
    Ok(writeln!(output)?)
}
