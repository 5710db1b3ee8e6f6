//! `elastane decisions`

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

use clap::Args;
use elastane_core::ContainerKind;

use crate::failure::Failure;
use crate::journal::{Amounts, Placed, Preemption, Record, Refused, Reprovision};
use crate::units::{bytes, count, moment};

/// Why a container went to a node, why an application waited, and what was preempted
#[derive(Args)]
#[command(after_help = "Examples:
  elastane decisions --journal decisions.jsonl
  elastane decisions --journal decisions.jsonl --application application_1763736000000_0007
  elastane decisions --journal decisions.jsonl --json | jq 'select(.kind == \"refused\")'")]
pub(crate) struct Decisions {
    /// The scheduler's decision journal (JSON lines)
    #[arg(long, value_name = "FILE")]
    journal: PathBuf,
    /// Only the decisions about this application
    #[arg(long, value_name = "ID")]
    application: Option<String>,
    /// Print the records unchanged, one JSON object per line
    #[arg(long)]
    json: bool,
}

impl Decisions {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let file = File::open(&self.journal).map_err(|error| Failure::bad(&self.journal, error))?;
        let mut report = Report::default();
        let mut containers = HashSet::new();
        let (mut read, mut unreadable, mut shown) = (0_usize, 0_usize, 0_usize);
        for line in BufReader::new(file).split(b'\n') {
            let line = line.map_err(|error| Failure::bad(&self.journal, error))?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let Ok(record) = serde_json::from_slice::<Record>(&line) else {
                unreadable += 1;
                continue;
            };
            read += 1;
            if !self.is_asked_for(&record, &mut containers) {
                continue;
            }
            shown += 1;
            if self.json {
                output.write_all(&line)?;
                writeln!(output)?;
            } else {
                report.add(record, output)?;
            }
        }
        report.end(output)?;
        self.say_what_is_missing(read, unreadable, shown)
    }

    /// Whether to print the record. The end of a container belongs to the application for which it was
    /// placed.
    fn is_asked_for(&self, record: &Record, containers: &mut HashSet<String>) -> bool {
        let Some(wanted) = &self.application else {
            return !matches!(record, Record::Other) || self.json;
        };
        if let Record::Finished(finished) = record {
            return containers.contains(&finished.container);
        }
        let is_wanted = record.application() == Some(wanted);
        if let (Record::Placed(placed), true) = (record, is_wanted) {
            containers.insert(placed.container.clone());
        }
        is_wanted
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
                return Err(Failure::bad(
                    &self.journal,
                    format!("no journal, {problem}"),
                ));
            }
            eprintln!("elastane: {}: {problem}", self.journal.display());
        }
        match &self.application {
            Some(application) if shown == 0 => {
                let problem = format!("nothing is recorded about {application}");
                Err(Failure::bad(&self.journal, problem))
            }
            _ => Ok(()),
        }
    }
}

/// Writes records as sentences. Consecutive refusals become one sentence, since a waiting application
/// is refused at every heartbeat.
#[derive(Default)]
struct Report {
    waiting: Option<Waiting>,
}

struct Waiting {
    first: Refused,
    last: Refused,
    times: usize,
}

impl Report {
    fn add(&mut self, record: Record, output: &mut impl Write) -> Result<(), Failure> {
        let record = match record {
            Record::Refused(refused) => return self.refused(refused, output),
            record => record,
        };
        self.end(output)?;
        let (time_ms, sentence) = match &record {
            Record::Placed(placed) => (placed.time_ms, placed_sentence(placed)),
            Record::Finished(finished) => {
                let (container, node) = (&finished.container, &finished.node);
                (finished.time_ms, format!("finished  {container} on {node}"))
            }
            Record::Bookable(bookable) => {
                let (node, ratio) = (&bookable.node, bookable.ratio);
                let sentence = format!(
                    "bookable  {node}: {ratio:.2} times its registered size: {}",
                    bookable.reason
                );
                (bookable.time_ms, sentence)
            }
            Record::Preemption(preemption) => (preemption.time_ms, preemption_sentence(preemption)),
            Record::Reprovision(reprovision) => {
                (reprovision.time_ms, reprovision_sentence(reprovision))
            }
            Record::Learned(learned) => {
                let runs = match learned.runs {
                    0 => "there is no profile yet".to_owned(),
                    runs => format!("the profile is made of {}", count(runs, "run")),
                };
                let sentence = format!(
                    "learned   {}, {}: {runs}: {}",
                    learned.application, learned.outcome, learned.profile
                );
                (learned.time_ms, sentence)
            }
            Record::Refused(_) | Record::Other => return Ok(()),
        };
        Ok(writeln!(output, "{}  {sentence}", moment(time_ms))?)
    }

    fn refused(&mut self, refused: Refused, output: &mut impl Write) -> Result<(), Failure> {
        match &mut self.waiting {
            Some(waiting)
                if waiting.last.application == refused.application
                    && waiting.last.node == refused.node =>
            {
                waiting.last = refused;
                waiting.times += 1;
                Ok(())
            }
            _ => {
                self.end(output)?;
                self.waiting = Some(Waiting {
                    first: refused.clone(),
                    last: refused,
                    times: 1,
                });
                Ok(())
            }
        }
    }

    /// Writes the collected refusals.
    fn end(&mut self, output: &mut impl Write) -> Result<(), Failure> {
        let Some(waiting) = self.waiting.take() else {
            return Ok(());
        };
        let Waiting { first, last, times } = waiting;
        let until = match times {
            1 => String::new(),
            _ => format!(" ({times} times until {})", moment(last.time_ms)),
        };
        Ok(writeln!(
            output,
            "{}  waited    {} was not placed on {}: {}{until}",
            moment(first.time_ms),
            first.application,
            first.node,
            last.reason,
        )?)
    }
}

fn placed_sentence(placed: &Placed) -> String {
    let Placed {
        container,
        node,
        application,
        application_name,
        ..
    } = placed;
    let kind = match placed.request_priority {
        _ if placed.application_master => ContainerKind::ApplicationMaster.to_string(),
        Some(priority) if priority != 0 => ContainerKind::Executor { priority }.to_string(),
        _ => ContainerKind::DEFAULT_EXECUTOR.name().to_owned(),
    };
    let mut sentence = format!(
        "placed    {container} on {node}: {kind} of {application} ({application_name}), {} and {}",
        bytes(placed.memory_bytes as f64),
        count(placed.vcores as usize, "vcore"),
    );
    sentence.push_str(&format!("; {}", why(placed)));
    if placed.physical_memory_bytes > 0 && placed.physical_vcores > 0 {
        sentence.push_str(&format!(
            "; booked on the node: {} of {}, {} of {} vcores",
            bytes(placed.booked_memory_bytes as f64),
            bytes(placed.physical_memory_bytes as f64),
            placed.booked_vcores,
            placed.physical_vcores,
        ));
    }
    sentence
}

fn preemption_sentence(preemption: &Preemption) -> String {
    let what = match preemption.outcome.as_str() {
        "told" => "its application master is told that it will be preempted",
        "preempted" => "preempted",
        "spared" => "is not preempted after all",
        "refused" => "was named by the agent, and is not preempted",
        "observed" => "would be preempted in mode enforce",
        other => other,
    };
    format!(
        "memory    {} on {}: {what}; it holds {}, the node is short of {}; {}",
        preemption.container,
        preemption.node,
        bytes(preemption.resident_bytes as f64),
        bytes(preemption.short_bytes as f64),
        preemption.reason,
    )
}

fn reprovision_sentence(reprovision: &Reprovision) -> String {
    let Reprovision {
        container, node, ..
    } = reprovision;
    let times = reprovision.slowness.unwrap_or(1.0);
    let slow = match reprovision.slow.as_deref() {
        Some("throttled") => format!("takes {times:.2} times as long as without its CPU limit"),
        _ => format!("takes {times:.2} times as long as expected"),
    };
    let said = |amounts: Option<Amounts>| amounts.map_or_else(|| "nothing".to_owned(), amounts_of);
    let factors = reprovision.factors.unwrap_or([1.0; 4]);
    let factors = format!(
        "the rest of its demand is {:.2}, {:.2}, {:.2}, {:.2} times its prediction (CPU, memory, \
         network, disk)",
        factors[0], factors[1], factors[2], factors[3]
    );
    let what = match reprovision.what.as_str() {
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

fn amounts_of(amounts: Amounts) -> String {
    format!(
        "{:.2} cores, {}, network {}/s, disk {}/s",
        amounts.cpu_cores,
        bytes(amounts.memory_bytes),
        bytes(amounts.network_bytes_per_s),
        bytes(amounts.disk_bytes_per_s)
    )
}

fn why(placed: &Placed) -> String {
    let demand = match &placed.profile {
        Some(profile) => format!("by its profile {profile}"),
        None => "by its request, no profile is known".to_owned(),
    };
    match placed.reason.as_str() {
        "fits" => match placed.score {
            Some(score) => format!("fits for all of its life {demand}, best score {score:.4}"),
            None => format!("fits for all of its life {demand}"),
        },
        "starving" => "waited past the bound, so it passed as CapacityScheduler orders it".into(),
        "capacity-scheduler" => "CapacityScheduler placed it as it would alone".into(),
        "not-asked" => "the core was not asked".into(),
        other => other.to_owned(),
    }
}
