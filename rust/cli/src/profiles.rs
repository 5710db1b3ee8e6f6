//! `elastane profiles`

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use elastane_core::{Demand, Resource, Resources};
use elastane_predict::{ContainerKind, Profile, ProfileSettings, profile};
use elastane_store::{Access, Depository};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::plot;
use crate::units::{amount, count, duration, moment};

/// What is known of the applications that ran
#[derive(Args)]
#[command(after_help = "Examples:
  elastane profiles list --depository depository.db
  elastane profiles show 'tag|nightly' --depository depository.db
  elastane profiles forget 'tag|nightly' --depository depository.db")]
pub(crate) struct Profiles {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Every application: its key, its latest name, its runs
    List {
        #[command(flatten)]
        source: Source,
    },
    /// The profile of one application, as a plot for each resource
    Show {
        /// The application's key, as `list` prints it
        key: String,
        /// How many of the latest succeeded runs make the profile
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
        runs: u16,
        #[command(flatten)]
        source: Source,
    },
    /// Remove every run of one application
    Forget {
        /// The application's key, as `list` prints it
        key: String,
        #[command(flatten)]
        source: Source,
    },
}

#[derive(Args)]
struct Source {
    /// The scheduler's depository
    #[arg(long, value_name = "FILE")]
    depository: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Source {
    fn open(&self, access: Access) -> Result<Depository, Failure> {
        Ok(Depository::open_existing(&self.depository, access)?)
    }

    fn unknown(&self, key: &str) -> Failure {
        let problem = format!("no run of {key:?}; `elastane profiles list` prints every key");
        Failure::bad(&self.depository, problem)
    }
}

impl Profiles {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        match &self.action {
            Action::List { source } => list(source, output),
            Action::Show { key, runs, source } => show(key, usize::from(*runs), source, output),
            Action::Forget { key, source } => forget(key, source, output),
        }
    }
}

fn list(source: &Source, output: &mut impl Write) -> Result<(), Failure> {
    let applications = source.open(Access::Read)?.applications()?;
    if source.json {
        let list: Vec<Value> = applications
            .iter()
            .map(
                |a| json!({"key": a.key, "name": a.name, "runs": a.runs, "latest_ms": a.latest_ms}),
            )
            .collect();
        return write_json(output, &Value::Array(list));
    }
    if applications.is_empty() {
        writeln!(output, "no application has run yet")?;
    }
    for application in applications {
        let runs = count(application.runs, "run");
        let latest = moment(application.latest_ms);
        writeln!(output, "{}", application.key)?;
        writeln!(
            output,
            "    {runs}, the latest ended {latest}: {}",
            application.name
        )?;
    }
    Ok(())
}

fn show(key: &str, runs: usize, source: &Source, output: &mut impl Write) -> Result<(), Failure> {
    let depository = source.open(Access::Read)?;
    let latest = depository
        .latest_runs(key, 1)?
        .pop()
        .ok_or_else(|| source.unknown(key))?;
    let runs = depository.latest_succeeded_runs(key, runs)?;
    let settings = ProfileSettings {
        runs: runs.len(),
        margin: 0.0,
    };
    let made = profile(key, &runs, &settings).ok_or_else(|| {
        Failure::Failed(format!(
            "{key}: no run succeeded yet, so there is no profile"
        ))
    })?;
    if source.json {
        return write_json(output, &profile_json(&made, &latest.application_name));
    }
    writeln!(output, "{key}")?;
    writeln!(output, "name     {}", latest.application_name)?;
    writeln!(output, "profile  of {}", count(made.runs, "run"))?;
    for left_out in &made.left_out {
        let (id, kind) = (&left_out.application_id, left_out.kind.name());
        writeln!(output, "left out {id}, {kind}: {}", left_out.reason)?;
    }
    for (kind, demand) in &made.demands {
        show_demand(*kind, demand, output)?;
    }
    Ok(())
}

fn show_demand(
    kind: ContainerKind,
    demand: &Demand,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let length = duration(demand.duration_ms().unwrap_or_default());
    writeln!(output, "\n{}, {length}", kind.name())?;
    let mean = mean(demand);
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

fn mean(demand: &Demand) -> Resources {
    let slots = demand.slots();
    let sum = slots.iter().fold(Resources::ZERO, |sum, slot| sum + *slot);
    sum * (1.0 / slots.len() as f64)
}

fn column(demand: &Demand, resource: Resource) -> Vec<f64> {
    demand
        .slots()
        .iter()
        .map(|slot| slot.get(resource))
        .collect()
}

fn profile_json(profile: &Profile, name: &str) -> Value {
    let demands = profile.demands.iter().map(|(kind, demand)| {
        json!({
            "kind": kind.name(),
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
        "runs": profile.runs,
        "demands": demands.collect::<Vec<_>>(),
    })
}

fn forget(key: &str, source: &Source, output: &mut impl Write) -> Result<(), Failure> {
    let forgotten = source.open(Access::Write)?.forget(key)?;
    if forgotten == 0 {
        return Err(source.unknown(key));
    }
    if source.json {
        return write_json(output, &json!({"key": key, "forgotten_runs": forgotten}));
    }
    Ok(writeln!(
        output,
        "{} of {key} forgotten",
        count(forgotten, "run")
    )?)
}

fn write_json(output: &mut impl Write, value: &Value) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *output, value)?;
    Ok(writeln!(output)?)
}
