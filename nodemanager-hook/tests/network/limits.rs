//! Caps, shares and receive limits hold.

use std::fs;

use elastane_agent::network::{self, BpfNetworks, EgressRate, NetworkDevice, Networks, Shaper};
use elastane_protocol::Limits;
use nix::sys::signal::Signal;

use crate::{
    PAYLOAD_PART, cable_device,
    common::{Agent, Parent, Tree, wait_until},
    netns::{
        Cable, End, RIGHT, Sink, assert_near, counters, link_bytes_per_s, mb_per_s, measured_for,
        rates,
    },
    receive_rates, shaper,
};

#[test]
fn a_class_keeps_to_its_cap() {
    let Some(cable) = Cable::new() else { return };
    let mut shaper = shaper(&cable);
    let group = cable.group("group");
    let network = BpfNetworks::open().unwrap();
    let mut counted = network.attach(&group.0).unwrap();
    let class = counted.egress_class();
    let rate =
        |cap| EgressRate { share_bytes_per_s: mb_per_s(1) as u64, cap_bytes_per_s: Some(cap) };
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
    let rate = EgressRate { share_bytes_per_s: mb_per_s(1) as u64, cap_bytes_per_s: None };
    shaper.change(counted.egress_class(), rate).unwrap();
    counted.set_priority(Some(counted.egress_class().priority())).unwrap();
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
        let rate =
            EgressRate { share_bytes_per_s: link_bytes_per_s() / 8 * share, cap_bytes_per_s: None };
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
    let counted = counters(&network, &*counted);
    assert!(counted.received_bytes > 5 * 1024, "{counted:?}");
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
    let missing: NetworkDevice = "missing".parse().unwrap();
    let error = Shaper::prepare(&missing, link_bytes_per_s()).unwrap_err();
    let expected = "missing: cannot find the device: ";
    assert!(error.to_string().starts_with(expected), "{error}");
    let error = cable.within(End::Left, || Shaper::prepare(&cable_device(), 0));
    assert_eq!(
        error.unwrap_err().to_string(),
        "cable: the link's rate is 0 bytes per second, at least 1024 are allowed"
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
    let tree = Tree::new("sleep 600");
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
        agent.audited().last().is_some_and(|last| last == "container_gone")
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
