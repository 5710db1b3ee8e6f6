//! The status file: the agent writes it beside its socket with each sample, and `elastane-agent
//! status` shows it without asking the agent.

use std::{
    collections::BTreeSet,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use elastane_protocol::{CanLimit, Capacity, Limits, MemoryVictim, Pressure, Usage};
use serde::{Deserialize, Serialize};

use crate::{
    audit::{Reason, planned, unix_ms},
    config::Config,
    own_file::{beside, replace},
    samples::combine,
};

/// The agent no longer runs if its file is older than this number of samples.
const MOST_SAMPLES_OLD: u64 = 4;
const MIB: u64 = 1 << 20;
const NETWORK_NOT_COUNTED: &str =
    "not counted: the container has no network group, see `elastane-agent doctor`";

/// The agent's state when it closed its newest sample.
#[derive(Debug, Serialize, Deserialize)]
pub struct AgentStatus {
    pub unix_ms: u64,
    pub pid: u32,
    pub can_limit: CanLimit,
    pub capacity: Capacity,
    pub node_usage: Usage,
    /// The part of `node_usage` beyond YARN's containers.
    pub others_usage: Usage,
    pub pressure: Option<Pressure>,
    /// Containers that should give way because the node's memory runs short.
    pub memory_victims: Vec<MemoryVictim>,
    pub containers: Vec<ContainerStatus>,
    /// Kinds of trouble, with their counts since the start.
    pub troubles: Vec<(String, u64)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct ContainerStatus {
    pub container: String,
    /// In the newest sample, if the container was in it.
    pub usage: Option<Usage>,
    pub planned: Option<Limits>,
    pub in_force: Limits,
    pub is_network_counted: bool,
    /// Why the container is not moved to a group of the agent, where it could be limited.
    pub left_in_its_group: BTreeSet<String>,
    /// The newest reasons for changes, oldest first, each with its age in ms at `unix_ms`.
    pub reasons: Vec<(u64, Reason)>,
}

/// The node's usage beyond its containers.
pub fn others(node: Usage, containers: Usage) -> Usage {
    combine(node, containers, |node, less| (node - less).max(0.0), u64::saturating_sub)
}

pub fn path(socket: &Path) -> PathBuf {
    beside(socket, ".status")
}

impl AgentStatus {
    pub fn write(&self, path: &Path) -> io::Result<()> {
        replace(path, &serde_json::to_vec(self)?)
    }

    /// Reads the status of a running agent, or says why there is none.
    pub fn read(config: &Config) -> Result<Self, String> {
        let path = path(&config.socket.path);
        let name = path.display();
        let text = fs::read(&path).map_err(|error| {
            format!(
                "{name}: {error}: no agent runs with this configuration, or it has not closed a \
                 sample yet"
            )
        })?;
        let status: Self = serde_json::from_slice(&text)
            .map_err(|error| format!("{name} is not a status file of this version: {error}"))?;
        let age_ms = unix_ms().saturating_sub(status.unix_ms);
        if age_ms > config.sampling.sample_ms * MOST_SAMPLES_OLD {
            let age_s = age_ms / 1000;
            return Err(format!("{name} is {age_s} s old: the agent no longer runs"));
        }
        Ok(status)
    }
}

impl fmt::Display for AgentStatus {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let age_s = unix_ms().saturating_sub(self.unix_ms) as f64 / 1000.0;
        writeln!(text, "agent {}, {age_s:.1} s ago", self.pid)?;
        let cpu_cores = self.capacity.cpu_cores;
        for (whose, usage) in [("node", &self.node_usage), ("others", &self.others_usage)] {
            writeln!(
                text,
                "{whose}: {:.2} of {cpu_cores} cores, {} of {} MiB, disk {} MiB/s read {} MiB/s \
                 written, network {} MiB/s in {} MiB/s out",
                usage.cpu_cores,
                usage.memory_bytes / MIB,
                self.capacity.memory_bytes / MIB,
                usage.disk_read_bytes_per_s / MIB,
                usage.disk_write_bytes_per_s / MIB,
                usage.network_in_bytes_per_s / MIB,
                usage.network_out_bytes_per_s / MIB,
            )?;
        }
        for victim in &self.memory_victims {
            writeln!(
                text,
                "short of memory by {} MiB: {} should give way",
                victim.short_bytes / MIB,
                victim.container
            )?;
        }
        for container in &self.containers {
            write!(text, "{container}")?;
        }
        for (kind, count) in &self.troubles {
            writeln!(text, "since the start: {kind}: {count}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ContainerStatus {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(text, "{}", self.container)?;
        match &self.usage {
            Some(usage) => {
                let network = match self.is_network_counted {
                    true => format!(
                        "{} KiB/s in {} KiB/s out",
                        usage.network_in_bytes_per_s / 1024,
                        usage.network_out_bytes_per_s / 1024
                    ),
                    false => NETWORK_NOT_COUNTED.to_owned(),
                };
                writeln!(
                    text,
                    "  uses      {:.2} cores (waits for {:.2} more, throttled {:.0} % of the time), {} MiB, \
                     disk {} KiB/s read {} KiB/s written, network {network}",
                    usage.cpu_cores,
                    usage.cpu_waited_cores,
                    usage.cpu_throttled * 100.0,
                    usage.memory_bytes / MIB,
                    usage.disk_read_bytes_per_s / 1024,
                    usage.disk_write_bytes_per_s / 1024,
                )?;
            }
            None => writeln!(text, "  uses      not in the newest sample")?,
        }
        writeln!(text, "  planned   {}", list(&self.planned.unwrap_or_default()))?;
        writeln!(text, "  in force  {}", list(&self.in_force))?;
        for why in &self.left_in_its_group {
            writeln!(text, "  not moved to a group of the agent: {why}")?;
        }
        for (age_ms, reason) in &self.reasons {
            let before_s = *age_ms as f64 / 1000.0;
            writeln!(text, "  {before_s:.1} s before: {reason}")?;
        }
        Ok(())
    }
}

/// The limits that are set, or `-`.
fn list(limits: &Limits) -> String {
    let all = planned(limits).into_iter();
    let all: Vec<String> = all.map(|(name, value)| format!("{name} {value}")).collect();
    if all.is_empty() { "-".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(unix_ms: u64) -> AgentStatus {
        let in_force =
            Limits { cpu_cap_cores: Some(0.5), memory_bytes: Some(1 << 30), ..Limits::default() };
        AgentStatus {
            unix_ms,
            pid: 7,
            can_limit: CanLimit::default(),
            capacity: Capacity::default(),
            node_usage: Usage::default(),
            others_usage: Usage::default(),
            pressure: None,
            memory_victims: Vec::new(),
            containers: vec![ContainerStatus {
                container: "container_1_1_1_1".into(),
                usage: Some(Usage::default()),
                planned: None,
                in_force,
                is_network_counted: false,
                left_in_its_group: BTreeSet::from(["/a: pids.max is 7".into()]),
                reasons: vec![(1500, Reason::PlanStep)],
            }],
            troubles: vec![("readings".into(), 3)],
        }
    }

    fn config(directory: &Path) -> Config {
        let mut config = Config::default();
        config.socket.path = directory.join("agent.sock");
        config
    }

    #[test]
    fn a_written_status_is_read_and_shown() {
        let directory = tempfile::tempdir().unwrap();
        let config = config(directory.path());
        status(unix_ms()).write(&path(&config.socket.path)).unwrap();
        let text = AgentStatus::read(&config).unwrap().to_string();
        for part in [
            "agent 7, ",
            "container_1_1_1_1\n",
            "network not counted: the container has no network group, see `elastane-agent doctor`\n",
            "  planned   -\n",
            "  not moved to a group of the agent: /a: pids.max is 7\n",
            "  in force  cpu_cap_cores 0.5, memory_bytes 1073741824\n",
            "  1.5 s before: plan_step\n",
            "since the start: readings: 3\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn usage_of_others_is_the_rest_of_the_node() {
        let usage = |cpu_cores, memory_bytes| Usage { cpu_cores, memory_bytes, ..Usage::default() };
        let (node, containers) = (usage(1.5, 700), usage(1.0, 200));
        assert_eq!(others(node, containers), usage(0.5, 500));
        // Node and containers are read at different moments, so a part may exceed the whole.
        assert_eq!(others(containers, node), usage(0.0, 0));
    }

    #[test]
    fn an_old_or_missing_status_says_that_no_agent_runs() {
        let directory = tempfile::tempdir().unwrap();
        let config = config(directory.path());
        let error = AgentStatus::read(&config).unwrap_err().to_string();
        assert!(error.contains("no agent runs"), "{error}");
        let hour_ago = unix_ms() - 3_600_000;
        status(hour_ago).write(&path(&config.socket.path)).unwrap();
        let error = AgentStatus::read(&config).unwrap_err().to_string();
        assert!(error.contains("is 3600 s old"), "{error}");
        fs::write(path(&config.socket.path), "{").unwrap();
        let error = AgentStatus::read(&config).unwrap_err().to_string();
        assert!(error.contains("is not a status file of this version"), "{error}");
    }
}
