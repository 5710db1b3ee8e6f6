//! The facts about a host, and the findings that follow from them.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::{
    cgroups::{Controller, Hierarchies, Hierarchy, NetworkGroups, Version},
    config,
    network::Backend,
    sensors::Device,
};

#[derive(Debug)]
pub struct Host {
    pub is_root: bool,
    pub hierarchies: Hierarchies,
    /// Why containers are not moved to groups of the agent.
    pub moves_refused: BTreeMap<Controller, String>,
    /// The configured directories and the disks behind them.
    pub local_dirs: Vec<(String, Result<Device, String>)>,
    /// The configured or detected speed of these disks.
    pub disk_bytes_per_s: Option<u64>,
    /// The backend that counts and limits containers' network.
    pub network: Option<(Backend, NetworkGroups)>,
    /// Why a better backend does not work.
    pub network_lacks: Option<String>,
    /// The configured or detected speed of the node's links.
    pub network_bytes_per_s: Option<u64>,
    /// The configured devices, and why one cannot be shaped.
    pub network_devices: Vec<(String, Result<(), String>)>,
    pub jvm: config::JvmConfig,
    pub has_pressure: bool,
    /// Why waits for a core are not measured.
    pub waits_lack: Option<String>,
}

impl Host {
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = vec![
            self.cpu(),
            self.memory(),
            self.disk(),
            self.received(),
            self.sent(),
            self.heap(),
            self.pressure(),
            self.waits(),
        ];
        let mut given = BTreeSet::new();
        for finding in &mut findings {
            finding.advice.retain(|advice| given.insert(advice.clone()));
        }
        findings
    }

    fn cpu(&self) -> Finding {
        let (version, mut advice) = self.limits_by(Controller::Cpu);
        let accounted = self.usable(Controller::CpuAccounting).ok();
        if version.is_some() && accounted.is_none() {
            advice.push("mount cpuacct: without it the agent cannot use groups".into());
        }
        let measured = match accounted {
            Some(Version::One) => "cpuacct.usage, else /proc/PID/stat",
            Some(Version::Two) => "cpu.stat, else /proc/PID/stat",
            None => "/proc/PID/stat",
        };
        let limited = version.map(|version| match version {
            Version::One => "cpu.shares, cpu.cfs_quota_us (version 1)",
            Version::Two => "cpu.weight, cpu.max (version 2)",
        });
        Finding::new("CPU", Some(measured), limited, advice)
    }

    fn memory(&self) -> Finding {
        let (version, advice) = self.limits_by(Controller::Memory);
        let measured = match version {
            Some(_) => "memory.stat, else /proc/PID/statm",
            None => "/proc/PID/statm",
        };
        let limited = version.map(|version| match version {
            Version::One => "memory.limit_in_bytes (version 1)",
            Version::Two => "memory.high, memory.max (version 2)",
        });
        Finding::new("memory", Some(measured), limited, advice)
    }

    fn disk(&self) -> Finding {
        let (version, mut advice) = self.limits_by(Controller::Disk);
        let measured = match version {
            Some(Version::Two) => "io.stat, else /proc/PID/io",
            _ => "/proc/PID/io",
        };
        let disks = usable_of("disk.local_dirs", &self.local_dirs, &mut advice);
        let disks: Vec<String> = disks.map(|(_, disk)| disk.to_string()).collect();
        if self.local_dirs.is_empty() {
            advice.push("set disk.local_dirs to YARN's local directories".into());
        }
        if !disks.is_empty() && self.disk_bytes_per_s.is_none() {
            let unknown = "the speed of the disks is unknown: set capacity.disk_bytes_per_s to \
                           consider it in placement";
            advice.push(unknown.into());
        }
        let limited = version.filter(|_| !disks.is_empty()).map(|version| {
            let files = match version {
                Version::One => "blkio.throttle.{read,write}_bps_device (version 1)",
                Version::Two => "io.max (version 2)",
            };
            let by = format!("{files} on {}", disks.join(", "));
            with_rate(by, self.disk_bytes_per_s)
        });
        Finding::new("disk", Some(measured), limited, advice)
    }

    /// What counts containers' bytes, and what limits incoming traffic.
    fn counted_by(&self) -> Option<(&'static str, &'static str)> {
        self.usable(Controller::Network).ok()?;
        let (backend, groups) = self.network?;
        // In a version 2 with controllers, a container moves only when a plan limits it.
        let is_apart = self.hierarchies.is_apart(Controller::Network);
        let counted = match (backend, groups, is_apart) {
            (Backend::Bpf, _, true) => "BPF programs on cgroup2 groups",
            (Backend::Bpf, _, false) => {
                "BPF programs on cgroup2 groups, if YARN made the group or a plan limits the \
                 container"
            }
            (Backend::Nft, NetworkGroups::Version2, true) => "nft rules on cgroup2 groups",
            (Backend::Nft, NetworkGroups::Version2, false) => {
                "nft rules on cgroup2 groups, if YARN made the group or a plan limits the \
                 container"
            }
            (Backend::Nft, _, _) => "nft rules on net_cls groups",
            (Backend::NetPrio, _, _) => return None,
        };
        Some((counted, "a token bucket in the same programs or rules"))
    }

    fn received(&self) -> Finding {
        let (measured, limited) = self.counted_by().unzip();
        let not_usable = || self.usable(Controller::Network).err();
        let lacks = self.network_lacks.clone().or_else(not_usable);
        let mut advice = self.advice_on_moves(Controller::Network);
        advice.extend(lacks);
        Finding::new("received", measured, limited, advice)
    }

    fn sent(&self) -> Finding {
        let mut advice = Vec::new();
        let shaped = usable_of("network.devices", &self.network_devices, &mut advice);
        let shaped: Vec<&str> = shaped.map(|(device, _)| device).collect();
        if self.network_devices.is_empty() {
            advice.push("set network.devices to the devices that containers share".into());
        }
        if self.network_bytes_per_s.is_none() {
            let unknown = "the speed of the links is unknown: set capacity.network_bytes_per_s to \
                           share them and to consider them in placement";
            advice.push(unknown.into());
        }
        let is_usable = !shaped.is_empty() && self.usable(Controller::Network).is_ok();
        let limited = self.network.filter(|_| is_usable).map(|(backend, _)| {
            let classified_by = match backend {
                Backend::NetPrio => " by net_prio",
                _ => "",
            };
            let by = format!("HTB classes{classified_by} on {}", shaped.join(", "));
            with_rate(by, self.network_bytes_per_s)
        });
        let measured = self.counted_by().map(|(counted, _)| counted);
        Finding::new("sent", measured, limited, advice)
    }

    fn heap(&self) -> Finding {
        let config::JvmConfig { measure, follow } = self.jvm;
        let mut advice = Vec::new();
        if !measure {
            advice.push("set jvm.measure = true to measure heaps".into());
        }
        if measure && !follow {
            let shrink = "set jvm.follow = true to let JVMs follow the planned memory and return \
                          memory when the node is short";
            advice.push(shrink.into());
        }
        if !self.is_root {
            advice.push("run the agent as root to reach the JVMs of other users".into());
        }
        let measured = measure.then_some("the JVM's counters (hsperfdata)");
        let limited = (measure && follow).then_some("the JVM's flags, set by the attach protocol");
        Finding::new("JVM heap", measured, limited, advice)
    }

    fn pressure(&self) -> Finding {
        let measured = self.has_pressure.then_some("/proc/pressure");
        let boot = "boot with psi=1 to measure how long the node's processes wait";
        let advice = (!self.has_pressure).then(|| boot.to_owned()).into_iter().collect();
        Finding::new("pressure", measured, Some("needs no limit"), advice)
    }

    fn waits(&self) -> Finding {
        let measured = self.waits_lack.is_none().then_some("taskstats");
        let advice = self.waits_lack.as_ref().map(|why| {
            format!(
                "waits for a core are not measured ({why}): run the agent as root with CAP_NET_ADMIN"
            )
        });
        Finding::new("CPU waits", measured, Some("needs no limit"), advice.into_iter().collect())
    }

    /// The version that limits a resource, or the advice.
    fn limits_by(&self, controller: Controller) -> (Option<Version>, Vec<String>) {
        match self.usable(controller) {
            Ok(version) => (Some(version), self.advice_on_moves(controller)),
            Err(advice) => (None, vec![advice]),
        }
    }

    fn advice_on_moves(&self, controller: Controller) -> Vec<String> {
        let advice = self.moves_refused.get(&controller).map(|why| {
            format!(
                "containers are limited in LinuxContainerExecutor's groups only: {why} \
                 (docs/agent-limits.md#where-systemd-runs)"
            )
        });
        advice.into_iter().collect()
    }

    fn usable(&self, controller: Controller) -> Result<Version, String> {
        let serving = self.hierarchies.serving(controller);
        let name = controller.name(serving.map_or(Version::One, Hierarchy::version));
        let name = name.unwrap_or(match controller {
            Controller::Network => "the network (version 2, net_cls or net_prio)",
            _ => "cpu accounting",
        });
        match serving {
            None => Err(format!(
                "no cgroup hierarchy serves {name}: mount it, or remove it from cgroup_disable="
            )),
            Some(one) if one.is_read_only() => Err(format!(
                "{} is mounted read-only: mount it writable",
                one.mount_point().display()
            )),
            Some(_) if !self.is_root => Err("run the agent as root".into()),
            Some(one) => Ok(one.version()),
        }
    }
}

/// The usable ones of a setting's names. Adds to `advice` why the others are not.
fn usable_of<'a, T>(
    setting: &str,
    all: &'a [(String, Result<T, String>)],
    advice: &mut Vec<String>,
) -> impl Iterator<Item = (&'a str, &'a T)> {
    for (name, outcome) in all {
        advice.extend(outcome.as_ref().err().map(|reason| format!("{setting}: {name}: {reason}")));
    }
    let usable = |(name, outcome): &'a (String, Result<T, String>)| {
        Some((name.as_str(), outcome.as_ref().ok()?))
    };
    all.iter().filter_map(usable)
}

fn with_rate(by: String, bytes_per_s: Option<u64>) -> String {
    match bytes_per_s {
        Some(rate) => format!("{by} ({} MB/s)", rate / 1_000_000),
        None => by,
    }
}

#[cfg(test)]
mod tests;
