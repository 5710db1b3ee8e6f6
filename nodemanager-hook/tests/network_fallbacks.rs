//! The network backends without BPF, on real traffic: nft rules for groups of version 2 and of
//! `net_cls`, and `net_prio`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod common;
#[allow(dead_code, reason = "some helpers are for the tests of BPF")]
#[path = "common/netns/mod.rs"]
mod netns;

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
};

use common::{Agent, Parent, Tree, skip, wait_until};
use elastane_agent::network::{
    EgressRate, GroupNetwork, GroupsBy, NetPrioNetworks, NetworkDevice, Networks, NftNetworks,
    Shaper,
};
use elastane_protocol::Limits;
use netns::{
    Cable, End, Process, RIGHT, Sink, assert_counted, assert_near, counters, exchange,
    link_bytes_per_s, mb_per_s, measured_for, rates, read_all, receive_rates,
};
use nix::{
    mount::{MntFlags, MsFlags, mount, umount2},
    sched::{CloneFlags, unshare},
    sys::signal::Signal,
};

const MB: usize = 1_000_000;
const PAYLOAD_PART: f64 = 1448.0 / 1514.0;

/// Acknowledgements of a closed connection may still arrive.
const LAST_PACKETS: u64 = 1_000;

/// The entry of the processes that other tests start.
#[test]
fn plays_its_role() {
    netns::play(|other| panic!("no such role: {other:?}"));
}

/// A cgroup file system that only the calling thread and its children see.
struct Mounted {
    _directory: tempfile::TempDir,
    at: PathBuf,
}

/// A group that is removed when this is dropped.
struct Group(PathBuf);

impl Mounted {
    /// `None` if the kernel lacks the controller.
    fn controller(name: &str) -> Option<Self> {
        if fs::read_to_string("/proc/cmdline").unwrap().contains("cgroup_no_v1=all") {
            return None; // A host with version 2 only.
        }
        private_mounts();
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().to_owned();
        let none = MsFlags::empty();
        if mount(Some("none"), &at, Some("cgroup"), none, Some(name)).is_err() {
            skip(&format!("{name} cannot be mounted"));
            return None;
        }
        Some(Self { _directory: directory, at })
    }

    fn group(&self, name: &str) -> Group {
        let name = format!("elastane-net-test-{}-{name}", std::process::id());
        let group = self.at.join(name);
        fs::create_dir(&group).unwrap();
        Group(group)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = umount2(&self.at, MntFlags::MNT_DETACH);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        wait_until("a group without processes", || fs::remove_dir(&self.0).is_ok());
    }
}

fn private_mounts() {
    unshare(CloneFlags::CLONE_NEWNS).unwrap();
    let (none, private) = (None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE);
    mount(none, "/", none, private, none).unwrap();
}

/// Makes `/sys` show exactly the devices of the caller's network namespace.
fn see_devices() {
    let of_namespace = tempfile::tempdir().unwrap();
    let none = None::<&str>;
    mount(Some("none"), of_namespace.path(), Some("sysfs"), MsFlags::empty(), none).unwrap();
    for part in ["class/net", "devices/virtual/net"] {
        let there = Path::new("/sys").join(part);
        mount(Some(&of_namespace.path().join(part)), &there, none, MsFlags::MS_BIND, none).unwrap();
    }
    umount2(of_namespace.path(), MntFlags::MNT_DETACH).unwrap();
}

/// `None` if `nft` is not installed and tests may be skipped for that.
fn nft(groups_by: GroupsBy) -> Option<NftNetworks> {
    if Command::new("nft").arg("--version").output().is_err() {
        skip("nft is not installed: apt-get install nftables");
        return None;
    }
    NftNetworks::check(groups_by).unwrap();
    Some(NftNetworks::open(groups_by).unwrap())
}

fn tables() -> String {
    run_nft(&["list", "tables"])
}

fn run_nft(arguments: &[&str]) -> String {
    let listed = Command::new("nft").args(arguments).output().unwrap();
    String::from_utf8(listed.stdout).unwrap()
}

/// Checks counters, limit and class of one group, by rules in the namespace of the caller.
fn counts_limits_and_marks(cable: &Cable, networks: &NftNetworks, group: &Path, other: &Path) {
    let mut counted = networks.attach(group).unwrap();
    let counted_other = networks.attach(other).unwrap();
    assert_ne!(counted.egress_class(), counted_other.egress_class());

    exchange(cable, group, RIGHT, 8 * MB, 5 * MB);
    exchange(cable, other, RIGHT, MB, 2 * MB);
    let all = read_all(networks);
    assert_counted(all.of(counted.slot()), 8 * MB, 5 * MB);
    assert_counted(all.of(counted_other.slot()), MB, 2 * MB);

    let flood = || cable.spawn(End::Left, group, &format!("flood {RIGHT}"));
    holds_its_class(cable, "cable", &mut *counted, RIGHT, flood);

    let earlier = counted.egress_class();
    drop(counted);
    let again = networks.attach(group).unwrap();
    assert_eq!(again.egress_class(), earlier);
    let counted_anew = counters(networks, &*again);
    let counted_anew = counted_anew.sent_bytes + counted_anew.received_bytes;
    assert!(counted_anew <= LAST_PACKETS, "{counted_anew} bytes");
}

/// Checks that a class caps what the group sends over a device that is visible here.
fn holds_its_class(
    cable: &Cable,
    device: &str,
    counted: &mut dyn GroupNetwork,
    peer: SocketAddr,
    flood: impl FnOnce() -> Process,
) {
    let device: NetworkDevice = device.parse().unwrap();
    let mut shaper = Shaper::prepare(&device, link_bytes_per_s()).unwrap();
    let class = counted.egress_class();
    let capped = EgressRate {
        share_bytes_per_s: mb_per_s(1) as u64,
        cap_bytes_per_s: Some(mb_per_s(5) as u64),
    };
    shaper.change(class, capped).unwrap();
    counted.set_priority(Some(class.priority())).unwrap();
    let sink = Sink::new(cable.listen(End::Right, peer));
    let flood = flood();
    let [measured] = rates([&sink], measured_for());
    assert_near(measured, mb_per_s(5) as f64 * PAYLOAD_PART);
    counted.set_priority(None).unwrap();
    let [measured] = rates([&sink], measured_for());
    assert_near(measured, link_bytes_per_s() as f64 * PAYLOAD_PART);
    shaper.restore().unwrap();
    // The kernel still sends what the killed process has written.
    drop(flood);
    wait_until("the end of the flood", || sink.has_ended_one());
}

#[test]
fn nft_counts_limits_and_marks_groups_of_net_cls() {
    let Some(cable) = Cable::new() else { return };
    cable.within(End::Left, || {
        let Some(mounted) = Mounted::controller("net_cls") else {
            return;
        };
        let Some(networks) = nft(GroupsBy::ClassId) else {
            return;
        };
        let [one, other] = ["one", "other"].map(|name| mounted.group(name));
        counts_limits_and_marks(&cable, &networks, &one.0, &other.0);
        let class_id = |group: &Group| fs::read_to_string(group.0.join("net_cls.classid")).unwrap();
        assert_eq!(class_id(&one), "0\n", "the file is reset");
        fs::write(one.0.join("net_cls.classid"), "65537").unwrap();
        let error = networks.attach(&one.0).unwrap_err().to_string();
        assert!(
            error.ends_with("is 65537: another program set it, so the agent leaves it"),
            "{error}"
        );
        assert_eq!(class_id(&one), "65537\n");
        drop(networks);
        assert_eq!(tables(), "");
    });
}

#[test]
fn nft_counts_limits_and_marks_groups_of_version_2() {
    let Some(cable) = Cable::new() else { return };
    // nft looks for groups in one place only, which need not be the mount point of version 2.
    let [one, other] = ["one", "other"].map(|name| cable.group(name));
    cable.within(End::Left, || {
        let place = Path::new("/sys/fs/cgroup");
        let mounted = one.0.parent().unwrap();
        if mounted != place {
            private_mounts();
            let none = None::<&str>;
            mount(Some(mounted), place, none, MsFlags::MS_BIND, none).unwrap();
        }
        let Some(networks) = nft(GroupsBy::Path) else {
            return;
        };
        let [one, other] = [&one, &other].map(|group| place.join(group.0.file_name().unwrap()));
        counts_limits_and_marks(&cable, &networks, &one, &other);
        let gone = networks.attach(&place.join("gone")).unwrap_err();
        assert!(gone.to_string().contains("No such file"), "{gone}");
        drop(networks);
        assert_eq!(tables(), "");
    });
}

#[test]
fn nft_limits_received_traffic() {
    let Some(cable) = Cable::new() else { return };
    cable.within(End::Right, || {
        let Some(mounted) = Mounted::controller("net_cls") else {
            return;
        };
        let Some(networks) = nft(GroupsBy::ClassId) else {
            return;
        };
        let group = mounted.group("receiver");
        let mut counted = networks.attach(&group.0).unwrap();
        let rate = mb_per_s(10);
        let [limited, free] =
            receive_rates(&cable, &group.0, (&networks, &mut *counted), rate, 2 * rate);
        // nft drops whole trains of segments, so TCP stays below the rate.
        let part = limited / rate as f64;
        assert!((0.75..=1.1).contains(&part), "{limited:.0} of {rate}");
        assert!(free > 3.0 * rate as f64, "{free:.0}");
    });
}

#[test]
fn net_prio_classifies_sent_traffic() {
    let Some(cable) = Cable::new() else { return };
    // net_prio only knows the devices of the first network namespace.
    let outlet = cable.lead_out();
    let work = || {
        let Some(mounted) = Mounted::controller("net_prio") else {
            return;
        };
        let device: NetworkDevice = outlet.device.parse().unwrap();
        let networks = NetPrioNetworks::open(vec![device]).unwrap();
        assert!(!networks.counts());
        let group = mounted.group("sender");
        let mut marked = networks.attach(&group.0).unwrap();
        assert!(marked.set_receive_rate(Some(mb_per_s(1) as u64)).is_err());
        let flood = || cable.spawn_outside(&group.0, &format!("flood {}", outlet.peer));
        holds_its_class(&cable, &outlet.device, &mut *marked, outlet.peer, flood);
        let map = group.0.join("net_prio.ifpriomap");
        let line = |priority| format!("{} {priority}", outlet.device);
        marked.set_priority(Some(marked.egress_class().priority())).unwrap();
        drop(marked);
        assert!(fs::read_to_string(&map).unwrap().contains(&line(0)), "the file is reset");
        fs::write(&map, line(65537)).unwrap();
        let error = networks.attach(&group.0).unwrap_err().to_string();
        assert!(
            error.ends_with("is 65537: another program set it, so the agent leaves it"),
            "{error}"
        );
    };
    // A thread has mounts of its own.
    std::thread::scope(|scope| scope.spawn(work).join().unwrap());
}

/// An agent with this backend, for the device at the left end.
fn agent_with(parent: &Parent, backend: &str) -> Agent {
    let sections = format!(
        "[network]\nbackend = \"{backend}\"\ndevices = [\"cable\"]\n\
         [capacity]\nnetwork_bytes_per_s = 12500000\n"
    );
    Agent::start_with(&parent.name, &sections)
}

#[test]
fn an_agent_counts_and_limits_by_nft_and_removes_its_leftovers() {
    let Some(cable) = Cable::new() else { return };
    let Some(parent) = Parent::new() else { return };
    cable.within(End::Left, || {
        let Some(mounted) = Mounted::controller("net_cls") else {
            return;
        };
        see_devices();
        drop(nft(GroupsBy::ClassId));
        let mut agent = agent_with(&parent, "nft");
        let can_limit = agent.report().can_limit;
        assert!(can_limit.network_sent && can_limit.network_received);
        let _sink = Sink::new(cable.listen(End::Right, RIGHT));
        let tree = Tree::new(&format!(
            "python3 -c '
import socket, time
connection = socket.create_connection((\"{}\", {}))
while True:
    connection.sendall(bytes(100_000))
    time.sleep(0.05)' & wait",
            RIGHT.ip(),
            RIGHT.port()
        ));
        agent.runs(&[&tree]);
        wait_until("2 MB/s are counted", || {
            let report = agent.report();
            let sample = report.containers.first().and_then(|one| one.samples.last());
            sample.is_some_and(|one| {
                (MB as u64..3 * MB as u64).contains(&one.usage.network_out_bytes_per_s)
            })
        });
        // A firewall does this when it reloads. All else must still be measured.
        run_nft(&["flush", "ruleset"]);
        let sequence = agent.report().sequence;
        wait_until("samples go on without the network", || {
            let report = agent.report();
            let sample = report.containers.first().and_then(|one| one.samples.last());
            report.sequence > sequence + 2
                && sample.is_some_and(|one| {
                    one.sequence > sequence + 1
                        && one.usage.memory_bytes > 0
                        && one.usage.network_out_bytes_per_s == 0
                })
        });
        assert!(agent.troubles("networks not read") > 0);
        agent.signal(Signal::SIGTERM);
        agent.start_again();
        agent.runs(&[&tree]);
        let limits = Limits { network_cap_bytes_per_s: Some(5_000_000), ..Limits::default() };
        agent.apply(60_000, vec![tree.limited(limits)]);
        assert_eq!(agent.report().containers[0].limits, Some(limits));
        let rules = run_nft(&["list", "table", "inet", "elastane"]);
        assert!(rules.contains("limit rate over"), "{rules}");
        agent.signal(Signal::SIGKILL);
        assert_ne!(tables(), "");
        agent.start_again();
        let rules = run_nft(&["list", "table", "inet", "elastane"]);
        assert!(!rules.contains("limit rate"), "a new agent has no plan: {rules}");
        agent.signal(Signal::SIGKILL);
        let sections = fs::read_to_string(agent.config()).unwrap();
        fs::write(agent.config(), sections.replace("\"nft\"", "\"bpf\"")).unwrap();
        agent.start_again();
        assert_eq!(tables(), "", "the table is left when bpf is configured");
        assert!(agent.signal(Signal::SIGTERM).success());
        drop(tree);
        let parent = mounted.at.join(&parent.name);
        assert!(!parent.exists(), "the groups of the agent are left");
    });
}
