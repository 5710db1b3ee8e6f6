//! How an agent begins: what the host is like, and what a killed agent left behind.

use std::{
    collections::BTreeSet,
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    io,
    path::{Path, PathBuf},
};

use elastane_protocol::Capacity;
use nix::unistd::{SysconfVar, geteuid, sysconf};

use super::{Actuator, Agent};
use crate::{
    actuators::{CpuLimit, KernelFiles, LimitError, OwnGroups, container_of},
    audit::{Audit, Reason},
    cgroups::Hierarchies,
    config::{self, Config},
    journal::Journal,
    once::Once,
    report::Identity,
    samples::Samples,
    sensors::{KernelThreads, ProcFs, ProcessTable},
};

/// Why an agent cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot open audit.file {}: {source}", path.display())]
    Audit { path: PathBuf, source: io::Error },
    #[error("cannot read {}: {source}", path.display())]
    Proc { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Groups(LimitError),
}

impl Agent {
    /// Looks at the host, reads the journal, and puts everything back that a killed agent left
    /// behind: a new agent has no plan.
    ///
    /// # Errors
    /// What has to be put right before an agent can run.
    pub fn start(config: &Config, proc_root: &Path) -> Result<Self, StartError> {
        let proc = ProcFs::new(proc_root);
        let read = |name: &str| {
            let path = proc.path(name);
            fs::read_to_string(&path).map_err(|source| StartError::Proc { path, source })
        };
        let hierarchies = Hierarchies::discover(&read("self/mountinfo")?);
        let capacity = capacity(&config.capacity, &read("meminfo")?);
        let mut kernel_threads = KernelThreads::default();
        let table =
            ProcessTable::scan(&proc, &mut kernel_threads).map_err(|source| StartError::Proc {
                path: proc_root.into(),
                source,
            })?;
        let mut actuator = Actuator {
            files: KernelFiles::default(),
            journal: journal(&config.socket.path, &hierarchies),
            audit: audit(config.audit.file.as_deref())?,
        };
        let own_groups = own_groups(config, &hierarchies, capacity.cpu_cores, &mut actuator)?;
        let mut agent = Self {
            identity: Identity {
                agent_run: RandomState::new().build_hasher().finish(),
                can_limit_cpu: own_groups.is_some(),
                capacity,
            },
            forbidden: table.ancestors(std::process::id()),
            proc,
            kernel_threads,
            hierarchies,
            own_groups,
            containers: Default::default(),
            samples: Samples::default(),
            reported: 0,
            plan: None,
            actuator,
            leaving: Default::default(),
            removed_at_start: 0,
            troubles: Once::default(),
            stopped: false,
        };
        agent.put_back_left_behind();
        Ok(agent)
    }

    /// When the agent stands, for the log.
    pub fn describe(&self) -> String {
        let Capacity {
            cpu_cores,
            memory_bytes,
            ..
        } = self.identity.capacity;
        format!(
            "{cpu_cores} cores, {memory_bytes} bytes of memory, {}",
            if self.identity.can_limit_cpu {
                "CPU can be limited"
            } else {
                "CPU cannot be limited"
            }
        )
    }

    fn put_back_left_behind(&mut self) {
        let journal = &self.actuator.journal;
        let mut left_behind: BTreeSet<PathBuf> = journal.own_groups().cloned().collect();
        if let Some(own_groups) = &self.own_groups {
            left_behind.extend(own_groups.present());
        }
        let lifted = CpuLimit::LIFTED;
        let own = left_behind.iter().cloned().map(|group| (group, lifted));
        let foreign = journal
            .former()
            .map(|(group, limit)| (group.clone(), limit));
        let limits: Vec<(PathBuf, CpuLimit)> = own.chain(foreign).collect();
        for (group, limit) in limits {
            self.lift(&group, limit);
        }
        if !left_behind.is_empty() {
            let restored = self.empty_and_remove(&mut left_behind);
            self.removed_at_start = restored.removed;
            log::info!("{} groups of a killed agent are removed", restored.removed);
        }
        self.leaving = left_behind;
    }

    /// Groups of the cpuacct hierarchy have no limit and are passed over.
    fn lift(&mut self, group: &Path, limit: CpuLimit) {
        let Some(container) = container_of(group) else {
            return;
        };
        let limited = group.join("cpu.shares").exists();
        let actuator = &mut self.actuator;
        if limited {
            match limit.write(group, &mut actuator.files) {
                Ok(_) => {
                    let troubles = &mut self.troubles;
                    actuator.record(&container, Reason::LeftBehind, None, limit, troubles);
                }
                Err(error) => return self.troubles.warn("limits left behind", error),
            }
            actuator.files.forget(group);
        }
        if let Err(error) = actuator.journal.forget_former(group) {
            self.troubles.warn("journal", error);
        }
    }
}

/// A journal that cannot be read is given up: what it said is lost, the agent is not.
fn journal(socket: &Path, hierarchies: &Hierarchies) -> Journal {
    let mut path = socket.to_owned().into_os_string();
    path.push(".journal");
    let path = PathBuf::from(path);
    let mut journal = Journal::load(&path).unwrap_or_else(|error| {
        log::warn!("{error}: limits that a killed agent left in foreign groups stay");
        Journal::empty(&path)
    });
    journal.retain(|group| hierarchies.hold(group));
    journal
}

fn audit(path: Option<&Path>) -> Result<Audit, StartError> {
    Audit::open(path).map_err(|source| StartError::Audit {
        path: path.unwrap_or(Path::new("")).into(),
        source,
    })
}

fn own_groups(
    config: &Config,
    hierarchies: &Hierarchies,
    cores: f32,
    actuator: &mut Actuator,
) -> Result<Option<OwnGroups>, StartError> {
    if !geteuid().is_root() {
        log::warn!("not root: containers are measured, but cannot be limited");
        return Ok(None);
    }
    let Actuator { files, journal, .. } = actuator;
    match OwnGroups::prepare(hierarchies, &config.cgroup.parent, cores, files, journal) {
        Ok(groups) => Ok(Some(groups)),
        Err(error @ LimitError::Taken { .. }) => Err(StartError::Groups(error)),
        Err(error) => {
            log::warn!("containers are measured, but cannot be limited: {error}");
            Ok(None)
        }
    }
}

/// What is configured, or else what the kernel says. The agent's own quota or affinity do not
/// make the node smaller, so `available_parallelism` is not what is asked.
fn capacity(configured: &config::Capacity, meminfo: &str) -> Capacity {
    let online = || {
        let count = sysconf(SysconfVar::_NPROCESSORS_ONLN).ok().flatten();
        count.unwrap_or(1) as f32
    };
    Capacity {
        cpu_cores: configured.cpu_cores.unwrap_or_else(online),
        memory_bytes: configured
            .memory_bytes
            .unwrap_or_else(|| total_memory_bytes(meminfo).unwrap_or(0)),
        network_bytes_per_s: configured.network_bytes_per_s,
        disk_bytes_per_s: configured.disk_bytes_per_s,
    }
}

fn total_memory_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_what_is_configured_or_else_what_the_kernel_says() {
        let meminfo = "MemTotal:       16384 kB\nMemFree: 1 kB\n";
        let detected = capacity(&config::Capacity::default(), meminfo);
        assert_eq!(detected.memory_bytes, 16384 * 1024);
        assert!(detected.cpu_cores >= 1.0);
        let configured = config::Capacity {
            cpu_cores: Some(2.5),
            memory_bytes: Some(7),
            network_bytes_per_s: 8,
            disk_bytes_per_s: 9,
        };
        let capacity = capacity(&configured, meminfo);
        assert_eq!((capacity.cpu_cores, capacity.memory_bytes), (2.5, 7));
        assert_eq!(
            (capacity.network_bytes_per_s, capacity.disk_bytes_per_s),
            (8, 9)
        );
    }
}
