//! The agent's configuration file.

mod check;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use crate::network::{Backend, NetworkDevice};

/// In the unit's log directory.
const USUAL_AUDIT: &str = "/var/log/elastane/audit.jsonl";

/// `agent.toml` in this crate explains each key.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub socket: Socket,
    pub sampling: Sampling,
    pub cgroup: Cgroup,
    pub memory: Memory,
    pub disk: Disk,
    pub network: Network,
    pub jvm: JvmConfig,
    pub capacity: CapacityConfig,
    pub audit: AuditConfig,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Socket {
    pub path: PathBuf,
    pub mode: String,
    pub group: Option<String>,
    pub allowed_users: Vec<UserName>,
}

/// A user by name or by number.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a user name or a uid")]
pub enum UserName {
    Uid(u32),
    Name(String),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sampling {
    interval_ms: u64,
    pub sample_ms: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cgroup {
    pub parent: PathBuf,
    pub from_arrival: bool,
    /// The part of the CPU that the parent leaves to another group beside it.
    pub system_reserve: f32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    pub margin_bytes: u64,
    pub node_floor_bytes: Option<u64>,
    kill_after_ms: u64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Disk {
    pub local_dirs: Vec<PathBuf>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    pub measure: bool,
    pub backend: Option<Backend>,
    /// The devices whose outgoing traffic is shaped.
    pub devices: Vec<NetworkDevice>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JvmConfig {
    pub measure: bool,
    pub follow: bool,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CapacityConfig {
    pub cpu_cores: Option<f32>,
    pub memory_bytes: Option<u64>,
    pub network_bytes_per_s: Option<u64>,
    pub disk_bytes_per_s: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditConfig {
    /// Empty: none.
    file: PathBuf,
}

impl Default for Socket {
    fn default() -> Self {
        Self {
            path: "/run/elastane/agent.sock".into(),
            mode: "0660".into(),
            group: None,
            allowed_users: Vec::new(),
        }
    }
}

impl Default for Sampling {
    fn default() -> Self {
        Self { interval_ms: 1000, sample_ms: 3000 }
    }
}

impl Default for Cgroup {
    fn default() -> Self {
        Self { parent: "elastane".into(), from_arrival: false, system_reserve: 0.1 }
    }
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self { file: USUAL_AUDIT.into() }
    }
}

impl Default for Network {
    fn default() -> Self {
        Self { measure: true, backend: None, devices: Vec::new() }
    }
}

impl Default for JvmConfig {
    fn default() -> Self {
        Self { measure: true, follow: true }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self { margin_bytes: 64 << 20, node_floor_bytes: None, kill_after_ms: 10_000 }
    }
}

impl Config {
    /// Reads and checks a configuration file. An error is one line.
    pub fn read(file: &Path) -> Result<Self, String> {
        let name = file.display();
        let text =
            fs::read_to_string(file).map_err(|error| format!("{name}: cannot be read: {error}"))?;
        let config: Self = toml::from_str(&text)
            .map_err(|error| format!("{name}:{}", with_line(&text, &error)))?;
        check::check(&config).map_err(|bad| format!("{name}: {bad}"))?;
        Ok(config)
    }
}

impl AuditConfig {
    pub fn file(&self) -> Option<&Path> {
        Some(self.file.as_path()).filter(|file| !file.as_os_str().is_empty())
    }

    /// Whether the file is the one of an agent that nobody has configured.
    pub fn is_usual(&self) -> bool {
        self.file == Path::new(USUAL_AUDIT)
    }
}

impl Socket {
    /// The permission bits of the socket file.
    pub fn mode_bits(&self) -> u32 {
        check::mode(&self.mode).unwrap_or(0o600)
    }
}

impl Sampling {
    /// The time between two readings.
    pub fn interval(self) -> Duration {
        Duration::from_millis(self.interval_ms)
    }

    pub fn readings_per_sample(self) -> u64 {
        self.sample_ms / self.interval_ms.max(1)
    }
}

impl Memory {
    /// How long the node must be short of memory before the agent kills a container.
    pub fn kill_after(self) -> Duration {
        Duration::from_millis(self.kill_after_ms)
    }
}

/// Line number, text and reason in one line, since TOML's own message has several lines.
fn with_line(text: &str, error: &toml::de::Error) -> String {
    let offset = error.span().map_or(0, |span| span.start).min(text.len());
    let bytes = text.as_bytes()[..offset].iter();
    let before = bytes.filter(|&&byte| byte == b'\n').count();
    let line = text.lines().nth(before).unwrap_or_default().trim();
    let reason = error.message().replace('\n', " ");
    format!("{}: `{line}`: {reason}", before + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("agent.toml");
        fs::write(&file, text).unwrap();
        Config::read(&file).map_err(|error| {
            let line = error.to_string();
            assert_eq!(line.lines().count(), 1, "{line}");
            line.replace(file.to_str().unwrap(), "FILE")
        })
    }

    #[test]
    fn an_empty_file_gives_the_defaults() {
        let config = read("").unwrap();
        assert_eq!(config.socket.path, Path::new("/run/elastane/agent.sock"));
        assert_eq!(config.socket.mode_bits(), 0o660);
        assert_eq!(config.sampling.interval(), Duration::from_secs(1));
        assert_eq!(config.sampling.readings_per_sample(), 3);
        assert_eq!(config.cgroup.parent, Path::new("elastane"));
        assert_eq!(config.memory.margin_bytes, 67_108_864);
        assert_eq!(config.memory.kill_after(), Duration::from_secs(10));
        assert!(config.disk.local_dirs.is_empty());
        assert!(config.jvm.measure && config.jvm.follow);
        assert_eq!(config.audit.file(), Some(Path::new("/var/log/elastane/audit.jsonl")));
        assert_eq!(read("[audit]\nfile = ''").unwrap().audit.file(), None);
    }

    #[test]
    fn the_example_holds_the_defaults() {
        let example = include_str!("../agent.toml");
        let config = read(example).unwrap();
        assert_eq!(format!("{config:?}"), format!("{:?}", read("").unwrap()));
        let uncommented: String = example
            .lines()
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .map(|line| format!("{line}\n"))
            .collect();
        read(&uncommented).unwrap();
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let error = read("[sampling]\ninterval = 5\n").unwrap_err();
        assert!(error.starts_with("FILE:2: `interval = 5`: unknown field"), "{error}");
        assert!(error.contains("`interval_ms`"), "{error}");
    }

    #[test]
    fn a_value_of_the_wrong_type_is_named_with_its_line() {
        let error = read("[socket]\nallowed_users = [1.5]\n").unwrap_err();
        assert!(
            error.starts_with("FILE:2: `allowed_users = [1.5]`: a user name or a uid"),
            "{error}"
        );
        let error = read("[network]\ndevices = ['a b']\n").unwrap_err();
        let start = "FILE:2: `devices = ['a b']`: `a b` is not a device name";
        assert!(error.starts_with(start), "{error}");
        let error = read("[sampling]\nsample_ms = -3\n").unwrap_err();
        assert!(error.starts_with("FILE:2: `sample_ms = -3`:"), "{error}");
    }

    #[test]
    fn the_error_of_a_value_out_of_bounds_names_key_value_and_bounds() {
        for (text, start) in [
            ("[sampling]\ninterval_ms = 5", "FILE: sampling.interval_ms = 5: allowed is"),
            ("[sampling]\nsample_ms = 1500", "FILE: sampling.sample_ms = 1500: allowed is"),
            ("[cgroup]\nparent = '/x'", "FILE: cgroup.parent = /x: allowed is"),
            ("[cgroup]\nparent = 'a/../b'", "FILE: cgroup.parent = a/../b: allowed is"),
            ("[cgroup]\nparent = ''", "FILE: cgroup.parent = : allowed is"),
            ("[cgroup]\nsystem_reserve = 0", "FILE: cgroup.system_reserve = 0: allowed is 0.01 to"),
            ("[socket]\nmode = '0990'", "FILE: socket.mode = 0990: allowed is"),
            ("[socket]\npath = 'x.sock'", "FILE: socket.path = x.sock: allowed is"),
            ("[capacity]\ncpu_cores = 0", "FILE: capacity.cpu_cores = 0: allowed is"),
            ("[capacity]\ncpu_cores = nan", "FILE: capacity.cpu_cores = NaN: allowed is"),
            ("[capacity]\nmemory_bytes = 0", "FILE: capacity.memory_bytes = 0: allowed is"),
            ("[memory]\nmargin_bytes = 5", "FILE: memory.margin_bytes = 5: allowed is"),
            ("[memory]\nkill_after_ms = 5", "FILE: memory.kill_after_ms = 5: allowed is"),
            ("[disk]\nlocal_dirs = ['/data', 'x']", "FILE: disk.local_dirs = x: allowed is"),
            ("[audit]\nfile = 'x'", "FILE: audit.file = x: allowed is"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(start), "{error}");
        }
    }
}
