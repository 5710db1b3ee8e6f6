//! `elastane status`

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};

use super::LiveOptions;
use super::watch::watched;
use super::words::{capacity_scheduler_says, cores, counted, gib_of_mb, number, text, waiting};
use crate::failure::Failure;
use crate::table::Table;
use crate::units::count;

const KINDS: [&str; 5] = ["physical", "bookable", "booked", "planned", "used"];

/// How the cluster stands now: sizes, queues, and what waits
#[derive(Args)]
#[command(after_help = "Examples:
  elastane status --resource-manager http://rm1:8088,http://rm2:8088
  ELASTANE_RESOURCE_MANAGER=https://rm1:8090 elastane status --watch=5
  elastane status --json | jq .sizes.cluster

curl asks, with your Kerberos ticket where the web server wants one. CURL_CA_BUNDLE names other certificates.")]
pub(crate) struct Status {
    #[command(flatten)]
    live: LiveOptions,
}

impl Status {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let manager = self.live.ask.resource_manager()?;
        watched(self.live.watch, output, |output| {
            let all = json!({
                "status": manager.get("status", &[])?,
                "sizes": manager.get("sizes", &[])?,
                "queues": manager.get("queues", &[("limit", "10000")])?["queues"],
            });
            if self.live.json {
                writeln!(output, "{all}")?;
                return Ok(());
            }
            print(&all, output)
        })
    }
}

fn print(all: &Value, output: &mut Vec<u8>) -> Result<(), Failure> {
    let (status, cluster) = (&all["status"], &all["sizes"]["cluster"]);
    if status["in_service"] == true {
        writeln!(output, "Mode {}, and the core is in service", text(&status["mode"]))?;
    } else {
        writeln!(output, "The core is out of service: CapacityScheduler decides alone")?;
    }
    writeln!(
        output,
        "{}: {} larger than registered, {} with a fresh report\n",
        counted(&cluster["nodes"], "node"),
        number(&cluster["nodes_raised"]),
        number(&status["agents_fresh"]),
    )?;
    sizes(cluster).print(output)?;
    writeln!(output)?;
    queues(&all["queues"]).print(output)?;
    writeln!(output)?;
    print_waiting(status, output)
}

fn print_waiting(status: &Value, output: &mut Vec<u8>) -> Result<(), Failure> {
    let Some(shown) = status["waiting"].as_array() else {
        writeln!(output, "Which applications wait is not known")?;
        return Ok(());
    };
    let all = number(&status["waiting_applications"]) as usize;
    let verb = if all == 1 { "waits" } else { "wait" };
    write!(output, "{} {verb} for a container", count(all, "application"))?;
    match all.saturating_sub(shown.len()) {
        0 => writeln!(output)?,
        hidden => writeln!(output, "; {hidden} of them you may not see")?,
    }
    for one in shown {
        let (id, name) = (text(&one["application"]), text(&one["name"]));
        writeln!(output, "{id} ({name}, {}) {}", text(&one["queue"]), waiting(one))?;
        if let Some(words) = capacity_scheduler_says(one) {
            writeln!(output, "  {words}")?;
        }
    }
    Ok(())
}

fn sizes(cluster: &Value) -> Table {
    let mut table = Table::new(1, &["", KINDS[0], KINDS[1], KINDS[2], KINDS[3], KINDS[4], ""]);
    let amounts = |unit: &str, write: fn(&Value) -> String| {
        KINDS.map(|kind| {
            let unit = match (kind, unit) {
                ("planned" | "used", "vcores") => "cpu_cores",
                _ => unit,
            };
            write(&cluster[format!("{kind}_{unit}")])
        })
    };
    let row = |name: &str, amounts: [String; 5]| {
        std::iter::once(name.to_owned()).chain(amounts).chain([String::new()]).collect()
    };
    table.row(row("memory, GiB", amounts("memory_mb", gib_of_mb)));
    table.row(row("virtual cores; planned and used: cores", amounts("vcores", cores)));
    table
}

fn queues(queues: &Value) -> Table {
    let mut table = Table::new(
        3,
        &["queue", "label", "mode", "share, %", "bookable GiB", "booked", "planned", "used", ""],
    );
    for queue in queues.as_array().into_iter().flatten() {
        for label in queue["labels"].as_array().into_iter().flatten() {
            let memory = |kind: &str| gib_of_mb(&label[format!("{kind}_memory_mb")]);
            table.row(vec![
                text(&queue["queue"]),
                text(&label["label"]),
                text(&queue["mode"]),
                text(&label["capacity_percent"]),
                memory("bookable"),
                memory("booked"),
                memory("planned"),
                memory("used"),
                String::new(),
            ]);
        }
    }
    table
}
