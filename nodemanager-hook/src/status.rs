//! The status file: the agent writes it beside its socket with each sample, and `elastane-agent
//! status` shows it without asking the agent.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use elastane_protocol::{CanLimit, Capacity, Limits, MemoryVictim, Pressure, Usage};
use serde::{Deserialize, Serialize};

use crate::{
    audit::{planned, unix_ms},
    config::Config,
};

/// The agent no longer runs if its file is older than this number of samples.
const MOST_SAMPLES_OLD: u64 = 4;
const MIB: u64 = 1 << 20;

/// The agent's state when it closed its newest sample.
#[derive(Debug, Serialize, Deserialize)]
pub struct Status {
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
    /// The newest reasons for changes, oldest first, each with its age in ms at `unix_ms`.
    pub reasons: Vec<(u64, String)>,
}

/// Why there is no status to show.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    #[error("{}: {source}: no agent runs with this configuration, or it has not closed a sample yet", path.display())]
    Missing { path: PathBuf, source: io::Error },
    #[error("{} is not a status file of this version: {source}", path.display())]
    Malformed {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("{} is {age_s} s old: the agent no longer runs", path.display())]
    Old { path: PathBuf, age_s: u64 },
}

/// The node's usage beyond its containers. A node has no heaps and no throttling of its own.
pub fn others(node: &Usage, containers: &Usage) -> Usage {
    let more = |of: fn(&Usage) -> u64| of(node).saturating_sub(of(containers));
    Usage {
        cpu_cores: (node.cpu_cores - containers.cpu_cores).max(0.0),
        memory_bytes: more(|usage| usage.memory_bytes),
        anonymous_bytes: more(|usage| usage.anonymous_bytes),
        file_bytes: more(|usage| usage.file_bytes),
        network_in_bytes_per_s: more(|usage| usage.network_in_bytes_per_s),
        network_out_bytes_per_s: more(|usage| usage.network_out_bytes_per_s),
        disk_read_bytes_per_s: more(|usage| usage.disk_read_bytes_per_s),
        disk_write_bytes_per_s: more(|usage| usage.disk_write_bytes_per_s),
        ..Usage::default()
    }
}

pub fn path(socket: &Path) -> PathBuf {
    let mut path = socket.to_owned().into_os_string();
    path.push(".status");
    path.into()
}

impl Status {
    /// Replaces the file atomically.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut new = path.to_owned().into_os_string();
        new.push(".new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Do not follow a link that somebody else made there.
        let mut file = File::create_new(&new)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(&new, path)
    }

    /// Reads the status of a running agent.
    pub fn read(config: &Config) -> Result<Self, StatusError> {
        let path = path(&config.socket.path);
        let text = fs::read(&path).map_err(|source| StatusError::Missing {
            path: path.clone(),
            source,
        })?;
        let status: Self = serde_json::from_slice(&text).map_err(|source| {
            let path = path.clone();
            StatusError::Malformed { path, source }
        })?;
        let age_ms = unix_ms().saturating_sub(status.unix_ms);
        let sample_ms = config.sampling.sample().as_millis();
        if u128::from(age_ms) > sample_ms * u128::from(MOST_SAMPLES_OLD) {
            let age_s = age_ms / 1000;
            return Err(StatusError::Old { path, age_s });
        }
        Ok(status)
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.write_text(&mut text);
        text
    }

    fn write_text(&self, text: &mut String) -> std::fmt::Result {
        let age_s = unix_ms().saturating_sub(self.unix_ms) as f64 / 1000.0;
        writeln!(text, "agent {}, {age_s:.1} s ago", self.pid)?;
        let Capacity {
            cpu_cores,
            memory_bytes,
            ..
        } = self.capacity;
        for (whose, usage) in [("node", &self.node_usage), ("others", &self.others_usage)] {
            writeln!(
                text,
                "{whose}: {:.2} of {cpu_cores} cores, {} of {} MiB, disk {} MiB/s read {} MiB/s \
                 written, network {} MiB/s in {} MiB/s out",
                usage.cpu_cores,
                usage.memory_bytes / MIB,
                memory_bytes / MIB,
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
            container.write_text(text)?;
        }
        for (kind, count) in &self.troubles {
            writeln!(text, "since the start: {kind}: {count}")?;
        }
        Ok(())
    }
}

impl ContainerStatus {
    fn network(&self, usage: &Usage) -> String {
        if !self.is_network_counted {
            return "not counted: the container has no network group, see `elastane-agent doctor`"
                .into();
        }
        format!(
            "{} KiB/s in {} KiB/s out",
            usage.network_in_bytes_per_s / 1024,
            usage.network_out_bytes_per_s / 1024
        )
    }

    fn write_text(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "{}", self.container)?;
        match &self.usage {
            Some(usage) => writeln!(
                text,
                "  uses      {:.2} cores (throttled {:.0} % of the time), {} MiB, disk {} KiB/s \
                 read {} KiB/s written, network {}",
                usage.cpu_cores,
                usage.cpu_throttled * 100.0,
                usage.memory_bytes / MIB,
                usage.disk_read_bytes_per_s / 1024,
                usage.disk_write_bytes_per_s / 1024,
                self.network(usage),
            )?,
            None => writeln!(text, "  uses      not in the newest sample")?,
        }
        let planned = self.planned.as_ref().map_or_else(|| "-".into(), list);
        writeln!(text, "  planned   {planned}")?;
        writeln!(text, "  in force  {}", list(&self.in_force))?;
        for (age_ms, reason) in &self.reasons {
            let before_s = *age_ms as f64 / 1000.0;
            writeln!(text, "  {before_s:.1} s before: {reason}")?;
        }
        Ok(())
    }
}

fn list(limits: &Limits) -> String {
    let all: Vec<String> = planned(limits)
        .into_iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    match all.is_empty() {
        true => "-".to_owned(),
        false => all.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(unix_ms: u64) -> Status {
        let in_force = Limits {
            cpu_cap_cores: Some(0.5),
            memory_bytes: Some(1 << 30),
            ..Limits::default()
        };
        Status {
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
                reasons: vec![(1500, "plan_step".into())],
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
        let text = Status::read(&config).unwrap().text();
        for part in [
            "agent 7, ",
            "container_1_1_1_1\n",
            "network not counted: the container has no network group, see `elastane-agent doctor`\n",
            "  planned   -\n",
            "  in force  cpu_cap_cores 0.5, memory_bytes 1073741824\n",
            "  1.5 s before: plan_step\n",
            "since the start: readings: 3\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn usage_of_others_is_the_rest_of_the_node() {
        let usage = |cpu_cores, memory_bytes| Usage {
            cpu_cores,
            memory_bytes,
            ..Usage::default()
        };
        let (node, containers) = (usage(1.5, 700), usage(1.0, 200));
        assert_eq!(others(&node, &containers), usage(0.5, 500));
        // Node and containers are read at different moments, so a part may exceed the whole.
        assert_eq!(others(&containers, &node), usage(0.0, 0));
    }

    #[test]
    fn an_old_or_missing_status_says_that_no_agent_runs() {
        let directory = tempfile::tempdir().unwrap();
        let config = config(directory.path());
        let error = Status::read(&config).unwrap_err().to_string();
        assert!(error.contains("no agent runs"), "{error}");
        let hour_ago = unix_ms() - 3_600_000;
        status(hour_ago).write(&path(&config.socket.path)).unwrap();
        let error = Status::read(&config).unwrap_err().to_string();
        assert!(error.contains("is 3600 s old"), "{error}");
        fs::write(path(&config.socket.path), "{").unwrap();
        let error = Status::read(&config).unwrap_err().to_string();
        assert!(
            error.contains("is not a status file of this version"),
            "{error}"
        );
    }
}
