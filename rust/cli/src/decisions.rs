//! `elastane decisions`

mod wanted;

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

use clap::Args;
use elastane_core::cluster::PlacedReason;
use elastane_core::{ContainerKind, Resources};
use elastane_runtime::{
    CapacityPreemption, CapacityPreemptionOutcome, ConsideredApplication, DeadlineNews,
    DeadlineState, JournalEvent, MemoryPreemption, Migration, MigrationState, Placed, Preemption,
    PreemptionOutcome, Record, Refused, Reprovision,
};

use crate::failure::Failure;
use crate::units::{count, memory, moment, printable, rate};
use wanted::WantedDecisions;

/// Why a container went to a node, why an application waited, and what was preempted
#[derive(Args)]
#[command(after_help = "Examples:
  elastane decisions --journal decisions.jsonl
  elastane decisions --journal decisions.jsonl --application application_1763736000000_0007
  elastane decisions --journal decisions.jsonl --container container_1763736000000_0007_01_000002
  elastane decisions --journal decisions.jsonl --node node-17.example.com:8041 --kind preemption
  elastane decisions --journal decisions.jsonl --queue root.etl --kind refused
  elastane decisions --journal decisions.jsonl --json | jq 'select(.kind == \"refused\")'")]
pub(crate) struct Decisions {
    /// The scheduler's decision journal (JSON lines)
    #[arg(long, value_name = "FILE")]
    journal: PathBuf,
    #[command(flatten)]
    wanted: WantedDecisions,
    /// Print the records unchanged, one JSON object per line
    #[arg(long)]
    json: bool,
}

impl Decisions {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let file = File::open(&self.journal).map_err(|error| Failure::bad(&self.journal, error))?;
        let mut report = DecisionsReport::default();
        let mut containers = HashSet::new();
        let (mut read, mut unreadable, mut shown) = (0_usize, 0_usize, 0_usize);
        for text in BufReader::new(file).split(b'\n') {
            let text = text.map_err(|error| Failure::bad(&self.journal, error))?;
            if text.trim_ascii().is_empty() {
                continue;
            }
            let Ok(record) = serde_json::from_slice::<Record>(&text) else {
                unreadable += 1;
                continue;
            };
            read += 1;
            let is_readable = self.json || !matches!(record.event, JournalEvent::Other);
            if !is_readable || !self.wanted.is_for(&record, &mut containers) {
                continue;
            }
            shown += 1;
            if self.json {
                output.write_all(&text)?;
                writeln!(output)?;
            } else {
                report.add(record, output)?;
            }
        }
        report.end(output)?;
        self.say_what_is_missing(read, unreadable, shown)
    }

    fn say_what_is_missing(
        &self,
        read: usize,
        unreadable: usize,
        shown: usize,
    ) -> Result<(), Failure> {
        if unreadable > 0 {
            let problem = format!("{} cannot be read", count(unreadable, "line"));
            if read == 0 {
                let problem = format!("no journal, {problem}");
                return Err(Failure::bad(&self.journal, problem));
            }
            eprintln!("elastane: {}: {problem}", self.journal.display());
        }
        match self.wanted.words() {
            Some(wanted) if shown == 0 => {
                let problem = format!("nothing is recorded about {wanted}");
                Err(Failure::bad(&self.journal, problem))
            }
            _ => Ok(()),
        }
    }
}

/// Writes records as sentences. Consecutive refusals become one sentence, since a waiting application
/// is refused at every heartbeat.
#[derive(Default)]
pub(crate) struct DecisionsReport {
    waiting: Option<WaitingReport>,
}

struct WaitingReport {
    since_ms: i64,
    until_ms: i64,
    latest: Refused,
    times: usize,
}

impl DecisionsReport {
    pub(crate) fn add(&mut self, record: Record, output: &mut impl Write) -> Result<(), Failure> {
        let Record { time_ms, event, queue: _ } = record;
        let sentence = match event {
            JournalEvent::Refused(refused) => return self.refused(time_ms, refused, output),
            JournalEvent::Node(_) | JournalEvent::Other => return self.end(output),
            JournalEvent::Placed(placed) => placed_sentence(&placed),
            JournalEvent::Finished { container, node, .. } => {
                format!("finished  {container} on {node}")
            }
            JournalEvent::Bookable { node, ratio, reason } => {
                format!("bookable  {node}: {ratio:.2} times its registered size: {reason}")
            }
            JournalEvent::Preemption(preemption) => match *preemption {
                Preemption::ForMemory(it) => memory_preemption_sentence(&it),
                Preemption::ByCapacityScheduler(it) => capacity_preemption_sentence(&it),
            },
            JournalEvent::Migration(migration) => migration_sentence(&migration),
            JournalEvent::Reprovision(reprovision) => reprovision_sentence(&reprovision),
            JournalEvent::Deadline(news) => deadline_sentence(&news),
            JournalEvent::Learned { application, profile, outcome, runs } => {
                let runs = match runs {
                    0 => "there is no profile yet".to_owned(),
                    runs => format!("the profile is made of {}", count(runs, "run")),
                };
                format!("learned   {application}, {}: {runs}: {profile}", outcome.name())
            }
        };
        self.end(output)?;
        Ok(writeln!(output, "{}  {sentence}", moment(time_ms))?)
    }

    fn refused(
        &mut self,
        time_ms: i64,
        latest: Refused,
        output: &mut impl Write,
    ) -> Result<(), Failure> {
        let place = |refused: &Refused| (refused.application.clone(), refused.node.clone());
        let waiting = self.waiting.as_ref();
        if waiting.is_some_and(|waiting| place(&waiting.latest) != place(&latest)) {
            self.end(output)?;
        }
        let (since_ms, times) = match &self.waiting {
            Some(waiting) => (waiting.since_ms, waiting.times + 1),
            None => (time_ms, 1),
        };
        self.waiting = Some(WaitingReport { since_ms, until_ms: time_ms, latest, times });
        Ok(())
    }

    /// Writes the collected refusals.
    pub(crate) fn end(&mut self, output: &mut impl Write) -> Result<(), Failure> {
        let Some(waiting) = self.waiting.take() else {
            return Ok(());
        };
        let until = match waiting.times {
            1 => String::new(),
            times => format!(" ({times} times until {})", moment(waiting.until_ms)),
        };
        let since = moment(waiting.since_ms);
        let Refused { application, node, reason } = waiting.latest;
        let sentence = format!("{application} was not placed on {node}: {reason}{until}");
        Ok(writeln!(output, "{since}  waited    {sentence}")?)
    }
}

fn deadline_sentence(news: &DeadlineNews) -> String {
    let DeadlineNews { application, deadline_ms, state, chance } = news;
    let deadline = moment(*deadline_ms);
    let what = match (state, chance) {
        (DeadlineState::Given, Some(chance)) => {
            let percent = 100.0 * chance;
            format!("it is met with a probability of {percent:.0} % if all executors start now")
        }
        (DeadlineState::Given, None) => {
            "whether it can be met is not known, no profile is known".to_owned()
        }
        (DeadlineState::Planned, Some(chance)) => {
            let percent = 100.0 * chance;
            format!("it is met with a probability of {percent:.0} % if it starts as planned")
        }
        (DeadlineState::Planned, None) => "its start is planned".to_owned(),
        (DeadlineState::Met, _) => "met".to_owned(),
        (DeadlineState::Missed, _) => "missed".to_owned(),
    };
    format!("deadline  {application}, {deadline}: {what}")
}

fn placed_sentence(placed: &Placed) -> String {
    let Placed { container, node, application, application_name, .. } = placed;
    let application_name = printable(application_name);
    let kind = match placed.request_priority {
        _ if placed.application_master => ContainerKind::ApplicationMaster.to_string(),
        Some(priority) if priority != 0 => ContainerKind::Executor { priority }.to_string(),
        _ => ContainerKind::DEFAULT_EXECUTOR.name().to_owned(),
    };
    let requested = memory(placed.memory_bytes as f64);
    let vcores = count(placed.vcores as usize, "vcore");
    let booked = match (placed.physical_memory_bytes, placed.physical_vcores) {
        (0, _) | (_, 0) => String::new(),
        (physical_bytes, physical_vcores) => format!(
            "; booked on the node: {} of {}, {} of {physical_vcores} vcores",
            memory(placed.booked_memory_bytes as f64),
            memory(physical_bytes as f64),
            placed.booked_vcores,
        ),
    };
    format!(
        "placed    {container} on {node}: {kind} of {application} ({application_name}), {requested} \
         and {vcores}; {}{booked}",
        why(placed)
    )
}

fn memory_preemption_sentence(preemption: &MemoryPreemption) -> String {
    let what = match preemption.outcome {
        PreemptionOutcome::Told => "its application master is told that it will be preempted",
        PreemptionOutcome::Preempted => "preempted",
        PreemptionOutcome::Spared => "is not preempted after all",
        PreemptionOutcome::Refused => "was named by the agent, and is not preempted",
        PreemptionOutcome::Observed => "would be preempted in mode enforce",
    };
    format!(
        "memory    {} on {}: {what}; it holds {}, the node is short of {}; {}",
        preemption.container,
        preemption.node,
        memory(preemption.resident_bytes as f64),
        memory(preemption.short_bytes as f64),
        preemption.reason,
    )
}

fn capacity_preemption_sentence(preemption: &CapacityPreemption) -> String {
    let what = match preemption.outcome {
        CapacityPreemptionOutcome::Told => {
            "its application master is told that CapacityScheduler will preempt it"
        }
        CapacityPreemptionOutcome::Killable => {
            "CapacityScheduler preempts it once another container needs its room"
        }
        CapacityPreemptionOutcome::Preempted => "preempted by CapacityScheduler",
        CapacityPreemptionOutcome::Spared => "CapacityScheduler does not preempt it after all",
    };
    let CapacityPreemption { container, node, reason, .. } = preemption;
    format!("preempt   {container} on {node}: {what}; {reason}")
}

fn migration_sentence(migration: &Migration) -> String {
    let what = match migration.state {
        MigrationState::Leaves => "its executor leaves: it takes no more tasks",
        MigrationState::NotHandled => {
            "stays: its JVM does not handle SIGPWR (spark.decommission.enabled is off, or it is young)"
        }
        MigrationState::NoExecutor => "stays: it is no Spark executor",
        MigrationState::Failed => "stays: its processes could not be examined or signalled",
    };
    let Migration { container, node, reason, .. } = migration;
    format!("migrate   {container} on {node}: {what}; {reason}")
}

fn reprovision_sentence(reprovision: &Reprovision) -> String {
    let Reprovision { container, node, .. } = reprovision;
    let times = reprovision.slowness.unwrap_or(1.0);
    let slow = match reprovision.slow.as_deref() {
        Some("throttled") => format!("takes {times:.2} times as long as without its CPU limit"),
        _ => format!("takes {times:.2} times as long as expected"),
    };
    let said =
        |amounts: Option<Resources>| amounts.map_or_else(|| "nothing".to_owned(), amounts_of);
    let factors = reprovision.factors.unwrap_or([1.0; 4]);
    let factors = format!(
        "the rest of its demand is {:.2}, {:.2}, {:.2}, {:.2} times its prediction (CPU, memory, \
         network, disk)",
        factors[0], factors[1], factors[2], factors[3]
    );
    let what = match &*reprovision.what {
        "opened" => format!(
            "{slow} and gets all that is left: {} beside {}",
            said(reprovision.lent),
            said(reprovision.predicted)
        ),
        "measured" => format!(
            "used {} of {} predicted; {factors}",
            said(reprovision.used),
            said(reprovision.predicted)
        ),
        "returned" => "returned what it was lent".to_owned(),
        "too-little-left" => format!("{slow}, and stays slow"),
        "unused" => factors,
        other => other.to_owned(),
    };
    let reason = reprovision.reason.as_deref();
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    format!("slow      {container} on {node}: {what}{reason}")
}

fn amounts_of(amounts: Resources) -> String {
    format!(
        "{:.2} cores, {}, network {}, disk {}",
        amounts.cpu_cores,
        memory(amounts.memory_bytes),
        rate(amounts.network_bytes_per_s),
        rate(amounts.disk_bytes_per_s)
    )
}

/// What else was considered for the node.
fn beside(placed: &Placed) -> String {
    let is_other =
        |one: &&ConsideredApplication| one.application.as_ref() != Some(&placed.application);
    let others = placed.considered.iter().filter(is_other).map(|one| {
        let application = one.application.as_deref().unwrap_or("another application");
        let verdict = match one.verdict.as_ref() {
            "may-go" => "",
            "would-delay-another" => ", would delay a planned start",
            "at-limit" => ", at a limit of its queue or user",
            other => other,
        };
        format!("{application} ({:.4}{verdict})", one.score)
    });
    let others: Vec<_> = others.collect();
    if others.is_empty() {
        return String::new();
    }
    format!("; considered beside it, best first: {}", others.join(", "))
}

fn why(placed: &Placed) -> String {
    let demand = match (&placed.profile, placed.by_others) {
        (Some(profile), _) => format!("by its profile {profile}"),
        (None, true) => "by what other applications used of their requests".to_owned(),
        (None, false) => "by its request, no profile is known".to_owned(),
    };
    match placed.reason {
        PlacedReason::Fits => match placed.score {
            Some(score) => {
                let beside = beside(placed);
                format!("fits for all of its life {demand}, score {score:.4}{beside}")
            }
            None => format!("fits for all of its life {demand}"),
        },
        PlacedReason::Starving => {
            "waited past the bound, so it passed as CapacityScheduler orders it".into()
        }
        PlacedReason::Owed => {
            "its queue was below its guarantee while another was above, so it went by request"
                .into()
        }
        PlacedReason::OwedFlow => {
            "its queue had less than its share of the CPU, network or disk that it lacked while \
             another had more, so it went by request"
                .into()
        }
        PlacedReason::CapacityScheduler => "CapacityScheduler placed it as it would alone".into(),
        PlacedReason::NotAsked => "the core was not asked".into(),
        PlacedReason::RanAlready => {
            "it ran already, as after a restart of the ResourceManager or a change of its size"
                .into()
        }
    }
}
