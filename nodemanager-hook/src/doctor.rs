//! `elastane-agent doctor`: what this host can measure and limit, by which mechanism, and what to
//! change for more. It looks and changes nothing.

use std::{collections::BTreeSet, fmt::Write as _, fs, io, path::Path};

use nix::unistd::geteuid;
use serde::Serialize;

use crate::{
    cgroups::{Controller, Hierarchies, Hierarchy, NetworkGroups, Version},
    config::{self, Config},
    network::{self, Backend, Shaper},
    run::PROC,
    sensors::{Device, Disks, ProcFs, pressure},
};

/// One line of the table.
#[derive(Debug, Serialize)]
pub struct Finding {
    pub what: &'static str,
    /// Where it is measured; nothing where it is not.
    pub measured_by: Option<String>,
    /// How it is limited; nothing where it is not.
    pub limited_by: Option<String>,
    /// What would make it better.
    pub advice: Vec<String>,
}

/// What was seen of a host.
#[derive(Debug)]
struct Host {
    is_root: bool,
    hierarchies: Hierarchies,
    /// Directories that are configured, and the disks behind them.
    local_dirs: Vec<(String, Result<Device, String>)>,
    /// What the disks behind them carry, where it is configured or known.
    disk_bytes_per_s: Option<u64>,
    /// What the network of containers is counted and limited by, if anything.
    network: Option<(Backend, NetworkGroups)>,
    /// Why that is nothing better.
    network_lacks: Option<String>,
    /// What the node's links carry, where it is configured or known.
    network_bytes_per_s: Option<u64>,
    /// Devices that are configured, and why they cannot be shaped, if they cannot.
    network_devices: Vec<(String, Result<(), String>)>,
    jvm: config::Jvm,
    has_pressure: bool,
}

/// Looks at this host.
///
/// # Errors
/// `/proc/self/mountinfo` that cannot be read.
pub fn diagnose(config: &Config) -> io::Result<Vec<Finding>> {
    let proc = ProcFs::new(Path::new(PROC));
    let mountinfo = fs::read_to_string(proc.path("self/mountinfo"))?;
    let disks = Disks::new(Path::new("/sys"));
    let behind = |directory: &Path| {
        let disk = disks.behind(directory, &mountinfo);
        disk.map_err(|error| error.to_string())
    };
    let local_dirs = config.disk.local_dirs.iter();
    let local_dirs: Vec<(String, Result<Device, String>)> = local_dirs
        .map(|one| (one.display().to_string(), behind(one)))
        .collect();
    let capacity = config.capacity;
    let known_disks = || {
        let found = local_dirs.iter().map(|(_, disk)| disk.clone().ok());
        let found: BTreeSet<Device> = found.collect::<Option<_>>()?;
        let found: Vec<Device> = found.into_iter().collect();
        disks.bytes_per_s(&found, &fs::read_to_string(proc.path("cpuinfo")).ok()?)
    };
    let mut hierarchies = Hierarchies::of_this_host(&mountinfo);
    let (network, network_lacks) = backend(&config.network, &hierarchies);
    hierarchies.serve_network(network.map(|(_, groups)| groups));
    Ok(Host {
        is_root: geteuid().is_root(),
        hierarchies,
        disk_bytes_per_s: capacity.disk_bytes_per_s.or_else(known_disks),
        network_bytes_per_s: capacity
            .network_bytes_per_s
            .or_else(|| links_bytes_per_s(config.network.parsed_devices())),
        local_dirs,
        network,
        network_lacks,
        network_devices: config
            .network
            .devices
            .iter()
            .map(|name| shaped(name))
            .collect(),
        jvm: config.jvm,
        has_pressure: pressure(&proc).is_some(),
    }
    .findings())
}

/// Whether everything that is listed can be limited, or needs no limit.
pub fn is_well(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.advice.is_empty())
}

/// For a terminal.
pub fn table(findings: &[Finding]) -> String {
    let mut text = format!("{:<9} {:<44} {}\n", "resource", "measured by", "limited by");
    for finding in findings {
        let or_not = |by: &Option<String>| by.clone().unwrap_or_else(|| "not".to_owned());
        let (measured, limited) = (or_not(&finding.measured_by), or_not(&finding.limited_by));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:<9} {measured:<44} {limited}", finding.what);
        for advice in &finding.advice {
            let _ = writeln!(text, "{:<9} -> {advice}", "");
        }
    }
    text
}

impl Host {
    fn findings(&self) -> Vec<Finding> {
        vec![
            self.cpu(),
            self.memory(),
            self.disk(),
            self.received(),
            self.sent(),
            self.heap(),
            self.pressure(),
        ]
    }

    fn cpu(&self) -> Finding {
        let (version, mut advice) = self.limits_by(Controller::Cpu);
        let accounted = self.usable(Controller::CpuAccounting).ok();
        if version.is_some() && accounted.is_none() {
            advice.push("mount cpuacct: a group without it is not followed".into());
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
        finding("CPU", measured, limited, advice)
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
        finding("memory", measured, limited, advice)
    }

    fn disk(&self) -> Finding {
        let (version, mut advice) = self.limits_by(Controller::Disk);
        let measured = match version {
            Some(Version::Two) => "io.stat, else /proc/PID/io",
            _ => "/proc/PID/io",
        };
        for (directory, disk) in &self.local_dirs {
            if let Err(reason) = disk {
                advice.push(format!("disk.local_dirs: {directory}: {reason}"));
            }
        }
        let disks: Vec<String> = self
            .local_dirs
            .iter()
            .filter_map(|(_, disk)| Some(disk.as_ref().ok()?.to_string()))
            .collect();
        if self.local_dirs.is_empty() {
            advice.push("set disk.local_dirs to YARN's local directories".into());
        }
        let limited = version.filter(|_| !disks.is_empty()).map(|version| {
            let files = match version {
                Version::One => "blkio.throttle.{read,write}_bps_device (version 1)",
                Version::Two => "io.max (version 2)",
            };
            format!("{files} on {}", disks.join(", "))
        });
        if !disks.is_empty() && self.disk_bytes_per_s.is_none() {
            let unknown = "what the disks carry is not known: set capacity.disk_bytes_per_s to let \
                           it count where containers are placed";
            advice.push(unknown.into());
        }
        let limited = limited.map(|by| with_rate(by, self.disk_bytes_per_s));
        finding("disk", measured, limited.as_deref(), advice)
    }

    /// What to change so that the network is counted better, if anything.
    fn network_advice(&self) -> Vec<String> {
        let not_usable = || self.usable(Controller::Network).err();
        let advice = self.network_lacks.clone();
        advice.or_else(not_usable).into_iter().collect()
    }

    /// What counts containers' bytes, and limits what they receive.
    fn counted_by(&self) -> Option<[&'static str; 2]> {
        self.usable(Controller::Network).ok()?;
        let (backend, groups) = self.network?;
        // Where version 2 has controllers, a container is not moved before a plan limits it.
        let is_apart = self.hierarchies.is_apart(Controller::Network);
        match (backend, groups) {
            (Backend::Bpf, _) => Some([
                match is_apart {
                    true => "BPF programs on cgroup2 groups",
                    false => "BPF programs on cgroup2 groups: YARN's, or while a plan limits",
                },
                "a token bucket in them",
            ]),
            (Backend::Nft, NetworkGroups::Version2) => Some([
                match is_apart {
                    true => "nft rules on cgroup2 groups",
                    false => "nft rules on cgroup2 groups: YARN's, or while a plan limits",
                },
                "a token bucket in them",
            ]),
            (Backend::Nft, _) => Some(["nft rules on net_cls groups", "a token bucket in them"]),
            (Backend::NetPrio, _) => None,
        }
    }

    fn received(&self) -> Finding {
        let by = self.counted_by();
        Finding {
            what: "received",
            measured_by: by.map(|[counts, _]| counts.to_owned()),
            limited_by: by.map(|[_, limits]| limits.to_owned()),
            advice: self.network_advice(),
        }
    }

    fn sent(&self) -> Finding {
        let is_marked = self.network.is_some() && self.usable(Controller::Network).is_ok();
        let mut advice = Vec::new();
        let mut shaped = Vec::new();
        for (device, outcome) in &self.network_devices {
            match outcome {
                Ok(()) => shaped.push(device.as_str()),
                Err(reason) => advice.push(format!("network.devices: {device}: {reason}")),
            }
        }
        if self.network_devices.is_empty() {
            advice.push("set network.devices to the devices that containers share".into());
        }
        if self.network_bytes_per_s.is_none() {
            let unknown = "what the links carry is not known: set capacity.network_bytes_per_s to \
                           share them, and to let them count where containers are placed";
            advice.push(unknown.into());
        }
        let is_shaped = is_marked && !shaped.is_empty();
        let is_by_priority = self
            .network
            .is_some_and(|(backend, _)| backend == Backend::NetPrio);
        Finding {
            what: "sent",
            measured_by: self.counted_by().map(|[counts, _]| counts.to_owned()),
            limited_by: is_shaped.then(|| {
                let told_by = if is_by_priority { " by net_prio" } else { "" };
                let by = format!("HTB classes{told_by} on {}", shaped.join(", "));
                with_rate(by, self.network_bytes_per_s)
            }),
            advice,
        }
    }

    fn heap(&self) -> Finding {
        let config::Jvm { measure, follow } = self.jvm;
        let mut advice = Vec::new();
        if !measure {
            advice.push("set jvm.measure = true to learn what heaps hold".into());
        }
        if measure && !follow {
            advice.push("set jvm.follow = true to let heaps follow the plan of memory and give back where the node is short".into());
        }
        if !self.is_root {
            advice.push("run the agent as root to reach the JVMs of other users".into());
        }
        Finding {
            what: "JVM heap",
            measured_by: measure.then(|| "the JVM's counters (hsperfdata)".to_owned()),
            limited_by: (measure && follow).then(|| "its flags, by the attach protocol".to_owned()),
            advice,
        }
    }

    fn pressure(&self) -> Finding {
        let mut advice = Vec::new();
        if !self.has_pressure {
            advice.push("boot with psi=1 to learn how long the node's processes wait".into());
        }
        Finding {
            what: "pressure",
            measured_by: self.has_pressure.then(|| "/proc/pressure".to_owned()),
            limited_by: Some("needs no limit".into()),
            advice,
        }
    }

    /// The version that limits it, or what to change.
    fn limits_by(&self, controller: Controller) -> (Option<Version>, Vec<String>) {
        match self.usable(controller) {
            Ok(version) => (Some(version), Vec::new()),
            Err(advice) => (None, vec![advice]),
        }
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
                "no cgroup hierarchy serves {name}: mount it, or take it out of cgroup_disable="
            )),
            Some(one) if one.is_read_only() => Err(format!(
                "{} is mounted read-only: mount it to be written",
                one.mount_point().display()
            )),
            Some(_) if !self.is_root => Err("run the agent as root".into()),
            Some(one) => Ok(one.version()),
        }
    }
}

/// What the network of containers would be counted and limited by, and why by nothing better.
fn backend(
    config: &config::Network,
    hierarchies: &Hierarchies,
) -> (Option<(Backend, NetworkGroups)>, Option<String>) {
    if !config.measure {
        return (None, Some("set network.measure = true".into()));
    }
    let devices = config.parsed_devices();
    let (chosen, passed_over) = Backend::choose(config.backend, hierarchies, &devices);
    let network = chosen.map(|chosen| (chosen.backend(), chosen.groups()));
    (
        network,
        (!passed_over.is_empty()).then(|| passed_over.to_string()),
    )
}

/// The speed of these devices, or else of the default route's; nothing where one does not say.
fn links_bytes_per_s(mut devices: Vec<network::Device>) -> Option<u64> {
    if devices.is_empty() {
        devices.extend(network::Device::of_default_route().ok().flatten());
    }
    let speeds = devices
        .iter()
        .map(|one| one.link_bytes_per_s().ok().flatten());
    let speeds: Vec<u64> = speeds.collect::<Option<_>>()?;
    (!speeds.is_empty()).then(|| speeds.iter().sum())
}

fn with_rate(by: String, bytes_per_s: Option<u64>) -> String {
    match bytes_per_s {
        Some(rate) => format!("{by} ({} MB/s)", rate / 1_000_000),
        None => by,
    }
}

fn shaped(name: &str) -> (String, Result<(), String>) {
    let checked = name.parse::<network::Device>();
    let checked = checked.map_err(|error| error.to_string());
    let outcome = checked.and_then(|device| {
        let checked = Shaper::check(&device);
        checked.map_err(|error| error.to_string())
    });
    (name.to_owned(), outcome)
}

fn finding(
    what: &'static str,
    measured_by: &str,
    limited_by: Option<&str>,
    advice: Vec<String>,
) -> Finding {
    Finding {
        what,
        measured_by: Some(measured_by.to_owned()),
        limited_by: limited_by.map(str::to_owned),
        advice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(mountinfo: &str, controllers: &str) -> Host {
        Host {
            is_root: true,
            hierarchies: Hierarchies::discover(mountinfo, |_| controllers.to_owned()),
            local_dirs: vec![("/data".into(), Ok(Device { major: 8, minor: 0 }))],
            disk_bytes_per_s: Some(150_000_000),
            network_bytes_per_s: Some(1_250_000_000),
            network: Some((Backend::Bpf, NetworkGroups::Version2)),
            network_lacks: None,
            network_devices: vec![("eth0".into(), Ok(()))],
            jvm: config::Jvm::default(),
            has_pressure: true,
        }
    }

    const V1: &str = include_str!("../tests/hosts/hybrid-systemd/mountinfo");
    const V2: &str = include_str!("../tests/hosts/v2-systemd/mountinfo");

    #[test]
    fn a_host_that_has_everything_gets_no_advice() {
        for (host, cpu, disk) in [
            (
                host(V1, ""),
                "cpu.shares, cpu.cfs_quota_us (version 1)",
                "blkio.throttle.{read,write}_bps_device (version 1) on 8:0 (150 MB/s)",
            ),
            (
                host(V2, "cpu io memory"),
                "cpu.weight, cpu.max (version 2)",
                "io.max (version 2) on 8:0 (150 MB/s)",
            ),
        ] {
            let findings = host.findings();
            assert!(is_well(&findings), "{findings:?}");
            assert_eq!(findings[0].limited_by.as_deref(), Some(cpu));
            assert_eq!(findings[2].limited_by.as_deref(), Some(disk));
            let sent = findings[4].limited_by.as_deref();
            assert_eq!(sent, Some("HTB classes on eth0 (1250 MB/s)"));
        }
    }

    #[test]
    fn what_is_missing_is_not_limited_and_says_what_to_change() {
        let mut poor = host(V2, "cpu\n");
        poor.has_pressure = false;
        poor.jvm.follow = false;
        poor.network_bytes_per_s = None;
        poor.local_dirs = vec![("/x".into(), Err("no block device".into()))];
        poor.network = None;
        poor.network_lacks = Some("this kernel takes no programs".into());
        poor.network_devices = vec![("eth0".into(), Err("it has a root".into()))];
        let findings = poor.findings();
        let text = table(&findings);
        assert!(!is_well(&findings));
        assert!(findings[1..5].iter().all(|one| one.limited_by.is_none()));
        assert!(findings[3].measured_by.is_none());
        for advice in [
            "-> no cgroup hierarchy serves memory",
            "-> disk.local_dirs: /x: no block device",
            "-> this kernel takes no programs",
            "-> network.devices: eth0: it has a root",
            "-> what the links carry is not known",
            "-> set jvm.follow = true",
            "-> boot with psi=1",
        ] {
            assert!(text.contains(advice), "{text}");
        }
    }

    #[test]
    fn what_stands_in_for_bpf_is_named_with_what_it_cannot() {
        let with = |backend, groups| {
            let mut host = host(V1, "");
            host.network = Some((backend, groups));
            host.network_lacks = Some("BPF: this kernel takes no programs".into());
            host.hierarchies.serve_network(Some(groups));
            let findings = host.findings();
            assert!(findings[3].advice[0].starts_with("BPF: "));
            let by = |finding: &Finding| (finding.measured_by.clone(), finding.limited_by.clone());
            [by(&findings[3]), by(&findings[4])]
        };
        let said = |text: &str| Some(text.to_owned());
        let nft = said("nft rules on net_cls groups");
        assert_eq!(
            with(Backend::Nft, NetworkGroups::NetCls),
            [
                (nft.clone(), said("a token bucket in them")),
                (nft, said("HTB classes on eth0 (1250 MB/s)"))
            ]
        );
        assert_eq!(
            with(Backend::NetPrio, NetworkGroups::NetPrio),
            [
                (None, None),
                (None, said("HTB classes by net_prio on eth0 (1250 MB/s)"))
            ]
        );
    }

    #[test]
    fn what_a_virtual_machine_does_not_know_can_be_set() {
        let mut host = host(V1, "");
        host.disk_bytes_per_s = None;
        let advice = &host.findings()[2].advice;
        assert!(
            advice[0].contains("set capacity.disk_bytes_per_s"),
            "{advice:?}"
        );
    }

    #[test]
    fn without_root_or_without_a_writable_mount_nothing_is_limited() {
        let mut rootless = host(V1, "");
        rootless.is_root = false;
        let findings = rootless.findings();
        assert!(findings[..3].iter().all(|one| one.limited_by.is_none()));
        assert!(findings.iter().take(3).all(|one| one.measured_by.is_some()));
        let read_only = include_str!("../tests/hosts/v1-together-in-a-container/mountinfo");
        let findings = host(read_only, "").findings();
        assert!(findings[0].advice[0].ends_with("mounted read-only: mount it to be written"));
    }
}
