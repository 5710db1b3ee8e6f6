//! `elastane explain`

use std::io::Write;

use clap::Args;
use elastane_runtime::{Record, application_of};
use serde_json::{Value, json};

use super::explain_queue::{print_queue, queue};
use super::limits::{print_limit_changes, print_limits};
use super::resource_manager::ResourceManager;
use super::subject::Subject;
use super::watch::watched;
use super::words::{
    NOTHING, capacity_scheduler_says, cores, counted, expected_to_end, gib_of_bytes, gib_of_mb,
    number, text, time, waiting,
};
use super::{LiveOptions, parsed};
use crate::decisions::DecisionsReport;
use crate::failure::Failure;
use crate::table::Table;

/// Number of decisions that are asked for at once.
const PAGE: &str = "100";

/// Bounds the wait of a caller who may see few of the decisions.
const MOST_PAGES: usize = 50;

/// Why an application waits, a container is where it is, and what is planned for it, a node or a queue
#[derive(Args)]
#[command(after_help = "Examples:
  elastane explain application_1763736000000_0007 --resource-manager http://rm1:8088
  elastane explain container_1763736000000_0007_01_000002
  elastane explain node-17.example.com:8041 --watch
  elastane explain root.etl --json

It asks the running ResourceManager. `elastane decisions` reads the journal's file, which goes back further.")]
pub(crate) struct Explain {
    /// An application's or container's id, HOST:PORT of a node, or a queue's path from root on
    subject: Subject,
    /// The most decisions to show
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u16).range(0..=1000))]
    decisions: u16,
    #[command(flatten)]
    live: LiveOptions,
}

impl Explain {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let manager = self.live.ask.resource_manager()?;
        watched(self.live.watch, output, |output| {
            let all = match &self.subject {
                Subject::Application(id) => self.application(&manager, id),
                Subject::Container(id) => self.container(&manager, id),
                Subject::Node(name) => self.node(&manager, name),
                Subject::Queue(path) => self.queue(&manager, path),
            }?;
            if self.live.json {
                writeln!(output, "{all}")?;
                return Ok(());
            }
            print(&all, matches!(self.subject, Subject::Container(_)), output)?;
            let none_shown = all["decisions"].as_array().is_some_and(Vec::is_empty);
            if matches!(self.subject, Subject::Queue(_)) && self.decisions > 0 && none_shown {
                writeln!(
                    output,
                    "\nNo decisions about its applications, or none that you may see"
                )?;
            }
            Ok(())
        })
    }

    fn application(&self, manager: &ResourceManager, id: &str) -> Result<Value, Failure> {
        self.perhaps_ended(manager, &format!("applications/{id}"), ("application", id))
    }

    fn container(&self, manager: &ResourceManager, id: &str) -> Result<Value, Failure> {
        let application = application_of(id)
            .ok_or_else(|| Failure::BadInput(format!("{id} is no container's id")))?;
        let path = format!("applications/{application}");
        let mut all = self.perhaps_ended(manager, &path, ("container", id))?;
        let containers = all.pointer_mut("/application/containers");
        if let Some(containers) = containers.and_then(Value::as_array_mut) {
            containers.retain(|it| it["container"] == id);
        }
        Ok(all)
    }

    /// What has ended is not among the applications, and there may be decisions about it.
    fn perhaps_ended(
        &self,
        manager: &ResourceManager,
        path: &str,
        of: (&str, &str),
    ) -> Result<Value, Failure> {
        let decisions = self.decisions(manager, of)?;
        match manager.get(path, &[]) {
            Ok(application) => Ok(json!({"application": application, "decisions": decisions})),
            Err(Failure::BadInput(_)) if decisions.as_array().is_some_and(|it| !it.is_empty()) => {
                Ok(json!({"application": null, "decisions": decisions}))
            }
            Err(failure) => Err(failure),
        }
    }

    fn node(&self, manager: &ResourceManager, name: &str) -> Result<Value, Failure> {
        let node = manager.get(&format!("nodes/{name}"), &[])?;
        Ok(json!({"node": node, "decisions": self.decisions(manager, ("node", name))?}))
    }

    fn queue(&self, manager: &ResourceManager, path: &str) -> Result<Value, Failure> {
        let mut all = queue(manager, path)?;
        all["decisions"] = self.decisions(manager, ("queue", path))?;
        Ok(all)
    }

    /// Oldest first. A page lacks the decisions that the caller may not see, so further pages fill it up.
    fn decisions(&self, manager: &ResourceManager, of: (&str, &str)) -> Result<Value, Failure> {
        let most = usize::from(self.decisions);
        let mut found: Vec<Value> = Vec::new();
        let mut before = None;
        for _ in 0..MOST_PAGES {
            if found.len() >= most {
                break;
            }
            let mut query = vec![of, ("limit", PAGE)];
            query.extend(before.as_deref().map(|before| ("before", before)));
            let mut page = manager.get("decisions", &query)?;
            if let Value::Array(decisions) = page["decisions"].take() {
                found.extend(decisions);
            }
            before = page["next_before"].as_u64().map(|number| number.to_string());
            if before.is_none() {
                break;
            }
        }
        found.truncate(most);
        found.reverse();
        Ok(Value::Array(found))
    }
}

fn print(all: &Value, is_of_container: bool, output: &mut Vec<u8>) -> Result<(), Failure> {
    if let Some(application) = all.get("application") {
        print_application(application, output)?;
        if let (true, Some(container)) = (is_of_container, application["containers"].get(0)) {
            print_limits(&container["limits"], output)?;
            print_limit_changes(&container["limit_changes"], output)?;
        }
    }
    if let Some(node) = all.get("node") {
        print_node(node, output)?;
    }
    if all.get("queue").is_some() {
        print_queue(all, output)?;
    }
    let decisions = all["decisions"].as_array().map_or(&[][..], Vec::as_slice);
    if !decisions.is_empty() {
        let about = match all.get("queue") {
            Some(_) => " about its applications",
            None => "",
        };
        writeln!(output, "\nThe latest decisions{about}")?;
        let mut report = DecisionsReport::default();
        for decision in decisions {
            report.add(parsed::<Record>(decision.clone(), "a decision")?, output)?;
        }
        report.end(output)?;
    }
    Ok(())
}

fn print_application(application: &Value, output: &mut Vec<u8>) -> Result<(), Failure> {
    if application.is_null() {
        writeln!(output, "It neither runs nor waits any more")?;
        return Ok(());
    }
    writeln!(
        output,
        "{} ({}) of {} in {}: {}, {} with {} GiB and {} booked, progress {} %",
        text(&application["application"]),
        text(&application["name"]),
        text(&application["user"]),
        text(&application["queue"]),
        text(&application["yarn_state"]),
        counted(&application["running_containers"], "container"),
        gib_of_mb(&application["booked_memory_mb"]),
        counted(&application["booked_vcores"], "vcore"),
        text(&application["progress_percent"]),
    )?;
    match (&application["state"], &application["waiting"]) {
        (Value::Null, _) => {
            writeln!(output, "Whether it waits is not known: the core says nothing now")?
        }
        (_, Value::Null) => writeln!(output, "It waits for no container")?,
        (_, why) => {
            writeln!(output, "It {}", waiting(why))?;
            if let Some(words) = capacity_scheduler_says(why) {
                writeln!(output, "{words}")?;
            }
        }
    }
    if let Some(expected) = expected_to_end(&application["predicted_end"]) {
        writeln!(output, "It {expected}")?;
    }
    print_containers(&application["containers"], output)
}

fn print_node(node: &Value, output: &mut Vec<u8>) -> Result<(), Failure> {
    let memory = |kind: &str| gib_of_mb(&node[format!("{kind}_memory_mb")]);
    let vcores = |kind: &str| cores(&node[format!("{kind}_vcores")]);
    let report = match node["report_age_ms"].as_i64() {
        Some(_) => format!("its agent reported {} ago", time(&node["report_age_ms"])),
        None => "its agent has not reported".to_owned(),
    };
    writeln!(output, "{}: mode {}, {report}", text(&node["node"]), text(&node["mode"]))?;
    writeln!(
        output,
        "{} GiB and {} vcores registered; {} GiB and {} bookable; {} GiB and {} booked",
        memory("physical"),
        vcores("physical"),
        memory("bookable"),
        vcores("bookable"),
        memory("booked"),
        vcores("booked"),
    )?;
    writeln!(
        output,
        "{} GiB and {} cores planned; {} GiB and {} cores used",
        memory("planned"),
        cores(&node["planned_cpu_cores"]),
        memory("used"),
        cores(&node["used_cpu_cores"]),
    )?;
    for arrival in node["arrivals"].as_array().into_iter().flatten() {
        let (id, name) = (text(&arrival["application"]), text(&arrival["name"]));
        writeln!(output, "{id} ({name}) is planned to start here in {}", time(&arrival["in_ms"]))?;
    }
    let hidden = &node["hidden_containers"];
    if number(hidden) > 0 {
        writeln!(output, "{} that you may not see", counted(hidden, "container"))?;
    }
    print_containers(&node["containers"], output)
}

fn print_containers(containers: &Value, output: &mut Vec<u8>) -> Result<(), Failure> {
    let mut table = Table::new(
        2,
        &[
            "container",
            "node",
            "GiB asked",
            "planned",
            "used",
            "cores planned",
            "used",
            "limit",
            "ends in",
            "planned by",
        ],
    );
    for one in containers.as_array().into_iter().flatten() {
        let measured = &one["measured"];
        let limit = match (&measured["limit_cap_cores"], &measured["limit_weight_cores"]) {
            (Value::Null, Value::Null) => NOTHING.to_owned(),
            (Value::Null, weight) => format!("weight {}", cores(weight)),
            (cap, _) => format!("at most {}", cores(cap)),
        };
        table.row(vec![
            text(&one["container"]),
            text(&one["node"]),
            gib_of_bytes(&one["requested_memory_bytes"]),
            gib_of_bytes(&one["planned"]["memory_bytes"]),
            gib_of_bytes(&measured["used"]["memory_bytes"]),
            cores(&one["planned"]["cpu_cores"]),
            cores(&measured["used"]["cpu_cores"]),
            limit,
            time(&one["ends_in_ms"]),
            planned_by(one),
        ]);
    }
    if containers.is_null() {
        writeln!(output, "The core says nothing of containers now")?;
    } else if !table.is_empty() {
        writeln!(output)?;
        table.print(output)?;
    }
    Ok(())
}

fn planned_by(container: &Value) -> String {
    match (&container["profile"], &container["by_others"]) {
        (Value::String(profile), _) => profile.clone(),
        (_, Value::Bool(true)) => "what others used".to_owned(),
        _ => "its request".to_owned(),
    }
}
