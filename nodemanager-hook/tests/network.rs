//! Real traffic between network namespaces, counted and limited by BPF.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod common;
#[allow(dead_code, reason = "some helpers are for the tests of the fallbacks")]
#[path = "common/netns.rs"]
mod netns;

use std::{fs, path::Path, thread, time::Instant};

use common::{Agent, Parent, Tree, wait_until};
use elastane_agent::network::{
    self, BpfNetworks, Device, EgressRate, Mechanism, NetworkCounters, Networks, Shaper,
    remove_leftovers,
};
use elastane_protocol::Limits;
use netns::{
    Cable, End, RIGHT, RIGHT_IPV6, Sink, assert_counted, assert_near, exchange, link_bytes_per_s,
    mb_per_s, measured_for, rates,
};
use nix::sys::signal::Signal;

const MB: usize = 1_000_000;
/// The part of a link's rate without Ethernet, IP and TCP headers.
const PAYLOAD_PART: f64 = 1448.0 / 1514.0;

/// The entry of the processes that other tests start.
#[test]
fn plays_its_role() {
    netns::play(|role| match role {
        ["agent", mechanism, group] => {
            let mechanism = if *mechanism == "link" {
                Mechanism::Link
            } else {
                Mechanism::Program
            };
            let network = BpfNetworks::open_with(mechanism).unwrap();
            let _group = network.attach(Path::new(group)).unwrap();
            let _shaper = Shaper::prepare(&cable_device(), link_bytes_per_s()).unwrap();
            println!("\nready");
            loop {
                thread::park();
            }
        }
        other => panic!("no such role: {other:?}"),
    });
}

fn cable_device() -> Device {
    "cable".parse().unwrap()
}

fn shaper(cable: &Cable) -> Shaper {
    shaper_of(cable, link_bytes_per_s())
}

fn shaper_of(cable: &Cable, link_bytes_per_s: u64) -> Shaper {
    cable.within(End::Left, || {
        Shaper::prepare(&cable_device(), link_bytes_per_s).unwrap()
    })
}

#[test]
fn bytes_of_a_group_are_counted_in_both_directions() {
    let Some(cable) = Cable::new() else { return };
    let [one, other] = ["one", "other"].map(|name| cable.group(name));
    // A container runtime makes groups in groups.
    let inner = cable.group("one/inner");
    let network = BpfNetworks::open().unwrap();
    let [counted, counted_other] = [&one, &other].map(|group| network.attach(&group.0).unwrap());

    exchange(&cable, &inner.0, RIGHT, 8 * MB, 5 * MB);
    exchange(&cable, &other.0, RIGHT_IPV6, MB, 2 * MB);

    let all = network.read().unwrap();
    assert_eq!(all.of(counted.slot()), counted.counters().unwrap());
    for (counters, sent, received) in [
        (all.of(counted.slot()), 8 * MB, 5 * MB),
        (all.of(counted_other.slot()), MB, 2 * MB),
    ] {
        assert_counted(counters, sent, received);
        assert_eq!(counters.dropped_packets, 0);
    }
}

#[test]
fn dropping_a_group_frees_its_slot() {
    let Some(cable) = Cable::new() else { return };
    let group = cable.group("group");
    let network = BpfNetworks::open().unwrap();
    let first = network.attach(&group.0).unwrap();
    let class = first.egress_class();
    assert_ne!(network.attach(&group.0).unwrap().egress_class(), class);
    exchange(&cable, &group.0, RIGHT, 1000, 0);
    assert!(first.counters().unwrap().sent_bytes > 1000);
    let reading = network.read().unwrap();
    assert_eq!(reading.of(first.slot()), first.counters().unwrap());
    drop(first);
    let again = network.attach(&group.0).unwrap();
    assert_eq!(reading.of(again.slot()), NetworkCounters::default());
    assert_eq!(again.egress_class(), class);
    assert_eq!(again.counters().unwrap(), NetworkCounters::default());
}

#[test]
fn a_directory_outside_of_cgroup2_is_refused() {
    let Some(cable) = Cable::new() else { return };
    let network = BpfNetworks::open().unwrap();
    let error = network.attach(Path::new("/tmp")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/tmp is not a cgroup2 group: only cgroup2 groups are measured"
    );
    let group = cable.group("group");
    let gone = group.0.join("gone");
    let error = network.attach(&gone).unwrap_err();
    assert!(error.is_gone(), "{error}");
    // The group is removed while it is measured.
    let counted = network.attach(&group.0).unwrap();
    fs::remove_dir(&group.0).unwrap();
    counted.counters().unwrap();
}

#[test]
fn a_class_keeps_to_its_cap() {
    let Some(cable) = Cable::new() else { return };
    let mut shaper = shaper(&cable);
    let group = cable.group("group");
    let network = BpfNetworks::open().unwrap();
    let mut counted = network.attach(&group.0).unwrap();
    let class = counted.egress_class();
    let rate = |cap| EgressRate {
        share_bytes_per_s: mb_per_s(1) as u64,
        cap_bytes_per_s: Some(cap),
    };
    shaper.change(class, rate(mb_per_s(5) as u64)).unwrap();
    counted.set_priority(Some(class.priority())).unwrap();
    let sink = Sink::new(cable.listen(End::Right, RIGHT));
    let _flood = cable.spawn(End::Left, &group.0, &format!("flood {RIGHT}"));
    let [measured] = rates([&sink], measured_for());
    assert_near(measured, mb_per_s(5) as f64 * PAYLOAD_PART);
    // A change takes effect while packets are queued.
    shaper.change(class, rate(mb_per_s(10) as u64)).unwrap();
    let [measured] = rates([&sink], measured_for());
    assert_near(measured, mb_per_s(10) as f64 * PAYLOAD_PART);
    // Without its class the group shares the class of the rest of the node.
    shaper.remove(class).unwrap();
    let [measured] = rates([&sink], measured_for());
    assert_near(measured, link_bytes_per_s() as f64 * PAYLOAD_PART);
}

#[test]
fn a_class_without_a_cap_takes_an_idle_link() {
    let Some(cable) = Cable::new() else { return };
    let mut shaper = shaper(&cable);
    let group = cable.group("group");
    let network = BpfNetworks::open().unwrap();
    let mut counted = network.attach(&group.0).unwrap();
    let rate = EgressRate {
        share_bytes_per_s: mb_per_s(1) as u64,
        cap_bytes_per_s: None,
    };
    shaper.change(counted.egress_class(), rate).unwrap();
    counted
        .set_priority(Some(counted.egress_class().priority()))
        .unwrap();
    let sink = Sink::new(cable.listen(End::Right, RIGHT));
    let _flood = cable.spawn(End::Left, &group.0, &format!("flood {RIGHT}"));
    let [measured] = rates([&sink], measured_for());
    assert_near(measured, link_bytes_per_s() as f64 * PAYLOAD_PART);
}

#[test]
fn classes_share_a_busy_link_by_their_shares() {
    let Some(cable) = Cable::new() else { return };
    let mut shaper = shaper(&cable);
    let network = BpfNetworks::open().unwrap();
    let groups = ["large", "small"].map(|name| cable.group(name));
    let mut counted = [&groups[0], &groups[1]].map(|group| network.attach(&group.0).unwrap());
    // Half of the link is spare bandwidth, shared in proportion to the shares.
    for (counted, share) in counted.iter_mut().zip([3, 1]) {
        let rate = EgressRate {
            share_bytes_per_s: link_bytes_per_s() / 8 * share,
            cap_bytes_per_s: None,
        };
        let class = counted.egress_class();
        shaper.change(class, rate).unwrap();
        counted.set_priority(Some(class.priority())).unwrap();
    }
    let ports = [5001, 5002].map(|port| (RIGHT.ip(), port).into());
    let sinks = ports.map(|port| Sink::new(cable.listen(End::Right, port)));
    let _floods = [0, 1].map(|place| {
        let role = format!("flood {}", ports[place]);
        cable.spawn(End::Left, &groups[place].0, &role)
    });
    let [large, small] = rates([&sinks[0], &sinks[1]], measured_for());
    assert_near(large + small, link_bytes_per_s() as f64 * PAYLOAD_PART);
    assert_near(large / small, 3.0);
}

/// The rates of a TCP connection with a receive limit and then without it, in bytes per second.
fn receive_rates(cable: &Cable, bytes_per_s: usize) -> [f64; 2] {
    let group = cable.group("receiver");
    let network = BpfNetworks::open().unwrap();
    let mut counted = network.attach(&group.0).unwrap();
    netns::receive_rates(cable, &group.0, &mut *counted, bytes_per_s, bytes_per_s / 2)
}

#[test]
fn the_receive_limit_holds_until_it_is_lifted() {
    let Some(cable) = Cable::new() else { return };
    let bytes_per_s = mb_per_s(10);
    let [limited, free] = receive_rates(&cable, bytes_per_s);
    assert_near(limited, bytes_per_s as f64);
    assert!(free > 3.0 * bytes_per_s as f64, "{free:.0}");
}

#[test]
fn a_receive_limit_does_not_slow_sent_traffic() {
    let Some(cable) = Cable::new() else { return };
    let group = cable.group("group");
    let network = BpfNetworks::open().unwrap();
    let mut counted = network.attach(&group.0).unwrap();
    // Less than the acknowledgements of the sent packets need.
    counted.set_receive_rate(Some(1024)).unwrap();
    let sink = Sink::new(cable.listen(End::Right, RIGHT));
    let _flood = cable.spawn(End::Left, &group.0, &format!("flood {RIGHT}"));
    let [measured] = rates([&sink], measured_for() / 2);
    assert!(measured > link_bytes_per_s() as f64, "{measured:.0}");
    let counters = counted.counters().unwrap();
    assert!(counters.received_bytes > 5 * 1024, "{counters:?}");
}

#[test]
fn leftovers_of_a_killed_agent_are_removed_at_the_next_start() {
    let Some(cable) = Cable::new() else { return };
    let [agents, parent] = ["agents", "parent"].map(|name| cable.group(name));
    let group = cable.group("parent/container");
    let before = cable.queueing_disciplines(End::Left);
    for (mechanism, left) in [("link", 0), ("program", 2)] {
        let role = format!("agent {mechanism} {}", group.0.display());
        let mut agent = cable.spawn(End::Left, &agents.0, &role);
        agent.wait_for("ready");
        agent.kill();
        assert_eq!(remove_leftovers(&parent.0).unwrap(), left, "{mechanism}");
        assert_eq!(remove_leftovers(&parent.0).unwrap(), 0, "{mechanism}");
        assert_ne!(cable.queueing_disciplines(End::Left), before);
        if mechanism == "link" {
            shaper(&cable).restore().unwrap();
        } else {
            let device = cable_device();
            let removed = cable.within(End::Left, || network::restore(&device).unwrap());
            assert!(removed);
        }
        assert_eq!(cable.queueing_disciplines(End::Left), before);
    }
}

#[test]
fn programs_of_a_live_agent_are_not_leftovers() {
    let Some(cable) = Cable::new() else { return };
    let group = cable.group("group");
    let network = BpfNetworks::open_with(Mechanism::Link).unwrap();
    let counted = network.attach(&group.0).unwrap();
    assert_eq!(remove_leftovers(&group.0).unwrap(), 0);
    exchange(&cable, &group.0, RIGHT, 1000, 0);
    assert!(counted.counters().unwrap().sent_bytes > 1000);
}

#[test]
fn a_root_of_another_program_stays_and_is_named() {
    let Some(cable) = Cable::new() else { return };
    for (root, kind) in [
        ("handle 11: htb default 2", "htb 11:"),
        ("handle 7e1a: pfifo", "pfifo 7e1a:"),
        ("handle 7e1a: htb default 9", "htb 7e1a:"),
    ] {
        cable.tc(End::Left, &format!("qdisc add dev cable root {root}"));
        let before = cable.queueing_disciplines(End::Left);
        let error = cable.within(End::Left, || {
            let removed = network::restore(&cable_device()).unwrap();
            assert!(!removed, "{root}");
            let error = Shaper::prepare(&cable_device(), link_bytes_per_s()).unwrap_err();
            let checked = Shaper::check(&cable_device()).unwrap_err();
            assert_eq!(error.to_string(), checked.to_string());
            error.to_string()
        });
        let expected =
            format!("cable: another program set the root queueing discipline {kind}; remove");
        assert!(error.starts_with(&expected), "{error}");
        assert_eq!(cable.queueing_disciplines(End::Left), before);
        cable.tc(End::Left, "qdisc del dev cable root");
    }
}

#[test]
fn a_missing_device_and_an_invalid_rate_are_named() {
    let Some(cable) = Cable::new() else { return };
    let missing: Device = "missing".parse().unwrap();
    let error = Shaper::prepare(&missing, link_bytes_per_s()).unwrap_err();
    let expected = "missing: cannot find the device: ";
    assert!(error.to_string().starts_with(expected), "{error}");
    let error = cable.within(End::Left, || Shaper::prepare(&cable_device(), 0));
    assert_eq!(
        error.unwrap_err().to_string(),
        "cable: the link's rate is 0 bytes per second, at least 1024 are allowed"
    );
}

/// Prints the precision of the receive limit; see docs/measurements/network.md.
#[test]
#[ignore = "a measurement"]
fn precision_of_the_receive_limit() {
    let Some(cable) = Cable::new() else { return };
    for bytes_per_s in [MB / 10, MB, 10 * MB, 100 * MB] {
        let [limited, _] = receive_rates(&cable, bytes_per_s);
        println!("network receive_limit={bytes_per_s} received_per_s={limited:.0}");
    }
}

/// Prints the precision of caps and shares; see docs/measurements/network.md.
#[test]
#[ignore = "a measurement"]
fn precision_of_the_classes() {
    let Some(cable) = Cable::new() else { return };
    let network = BpfNetworks::open().unwrap();
    let groups = ["first", "second"].map(|name| cable.group(name));
    let counted = [&groups[0], &groups[1]].map(|group| {
        let mut counted = network.attach(&group.0).unwrap();
        let priority = counted.egress_class().priority();
        counted.set_priority(Some(priority)).unwrap();
        counted
    });
    let classes = [&counted[0], &counted[1]].map(|counted| counted.egress_class());
    let ports = [5001, 5002].map(|port| (RIGHT.ip(), port).into());
    let sinks = ports.map(|port| Sink::new(cable.listen(End::Right, port)));
    let flood = |place: usize| {
        let role = format!("flood {}", ports[place]);
        cable.spawn(End::Left, &groups[place].0, &role)
    };
    let on_the_cable = |payload: f64| payload / PAYLOAD_PART;
    for cap_bytes_per_s in [MB as u64 / 10, MB as u64, 10 * MB as u64, 100 * MB as u64] {
        let mut shaper = shaper_of(&cable, 2 * cap_bytes_per_s);
        let rate = EgressRate {
            share_bytes_per_s: cap_bytes_per_s / 2,
            cap_bytes_per_s: Some(cap_bytes_per_s),
        };
        shaper.change(classes[0], rate).unwrap();
        let _flood = flood(0);
        let [payload] = rates([&sinks[0]], measured_for());
        let sent = on_the_cable(payload);
        println!("network send_cap={cap_bytes_per_s} sent_per_s={sent:.0}");
        shaper.restore().unwrap();
    }
    let link = 50 * MB as u64;
    // Shares that fill the link, and shares that leave most of it as spare bandwidth.
    for parts in [
        [47, 47],
        [70, 23],
        [84, 9],
        [9, 9],
        [27, 9],
        [9, 1],
        [49, 1],
    ] {
        let mut shaper = shaper_of(&cable, link);
        for (class, part) in classes.into_iter().zip(parts) {
            let rate = EgressRate {
                share_bytes_per_s: link / 100 * part,
                cap_bytes_per_s: None,
            };
            shaper.change(class, rate).unwrap();
        }
        let _floods = [flood(0), flood(1)];
        let [first, second] = rates([&sinks[0], &sinks[1]], measured_for());
        let (ratio, sum) = (first / second, on_the_cable(first + second));
        println!("network link={link} percent={parts:?} ratio={ratio:.2} sum={sum:.0}");
        shaper.restore().unwrap();
    }
}

/// Prints the cost of a reading; see docs/measurements/network.md.
#[test]
#[ignore = "a measurement"]
fn cost_of_50_groups() {
    let Some(cable) = Cable::new() else { return };
    let network = BpfNetworks::open().unwrap();
    let groups: Vec<_> = (0..50).map(|n| cable.group(&n.to_string())).collect();
    let begun = Instant::now();
    let mut counted: Vec<_> = groups
        .iter()
        .map(|group| network.attach(&group.0).unwrap())
        .collect();
    let attach_us = begun.elapsed().as_micros() / 50;
    let time = |what: &mut dyn FnMut()| {
        const TIMES: u32 = 1000;
        let begun = Instant::now();
        (0..TIMES).for_each(|_| what());
        begun.elapsed().as_nanos() / u128::from(TIMES)
    };
    let together = time(&mut || {
        let all = network.read().unwrap();
        counted.iter().for_each(|one| {
            std::hint::black_box(all.of(one.slot()));
        });
    });
    let single = time(&mut || {
        counted.iter().for_each(|one| {
            std::hint::black_box(one.counters().unwrap());
        });
    });
    let limit = time(&mut || counted[0].set_receive_rate(Some(1_000_000)).unwrap());
    let mut shaper = shaper(&cable);
    let class = counted[0].egress_class();
    let rate = |cap| EgressRate {
        share_bytes_per_s: mb_per_s(1) as u64,
        cap_bytes_per_s: Some(cap),
    };
    let mut cap = MB as u64;
    let change = time(&mut || {
        cap += 1;
        shaper.change(class, rate(cap)).unwrap();
    });
    println!(
        "network groups=50 attach_us={attach_us} read_all_ns={together} read_each_ns={single} \
         receive_rate_ns={limit} class_ns={change}"
    );
}

#[test]
fn an_agent_shapes_a_device_by_the_plan_and_restores_it() {
    let Some(cable) = Cable::new() else { return };
    let Some(parent) = Parent::new() else { return };
    let before = cable.queueing_disciplines(End::Left);
    let sections = "[network]\ndevices = [\"cable\"]\n[capacity]\nnetwork_bytes_per_s = 12500000\n";
    let mut agent = cable.within(End::Left, || Agent::start_with(&parent.name, sections));
    assert!(agent.report().can_limit.network_sent);
    let tree = Tree::new("sleep 60");
    agent.runs(&[&tree]);
    let classes = || cable.tc(End::Left, "class show dev cable");
    let unplanned = classes();
    let limits = Limits {
        network_weight_bytes_per_s: Some(1_250_000),
        network_cap_bytes_per_s: Some(5_000_000),
        ..Limits::default()
    };
    agent.apply(60_000, vec![tree.limited(limits)]);
    let planned = classes();
    assert!(planned.contains("rate 10Mbit ceil 40Mbit"), "{planned}");
    assert_eq!(agent.report().containers[0].limits, Some(limits));
    agent.apply(60_000, Vec::new());
    assert_eq!(classes(), unplanned);

    agent.apply(60_000, vec![tree.limited(limits)]);
    agent.runs(&[]);
    wait_until("the audit log has the end of the limits", || {
        agent
            .audited()
            .last()
            .is_some_and(|last| last == "container_gone")
    });
    assert_eq!(classes(), unplanned);

    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.limited(limits)]);
    agent.signal(Signal::SIGKILL);
    assert!(cable.queueing_disciplines(End::Left).contains("htb"));
    cable.within(End::Left, || agent.start_again());
    assert_eq!(classes(), unplanned, "a new agent has no plan");
    agent.signal(Signal::SIGKILL);
    let sections = fs::read_to_string(agent.config()).unwrap();
    let without = sections.replace("devices = [\"cable\"]", "measure = false");
    fs::write(agent.config(), without).unwrap();
    cable.within(End::Left, || agent.start_again());
    let now = cable.queueing_disciplines(End::Left);
    assert_eq!(
        now, before,
        "the root is removed although the configuration no longer names the device"
    );
    assert!(agent.signal(Signal::SIGTERM).success());
    assert_eq!(cable.queueing_disciplines(End::Left), before);
}
