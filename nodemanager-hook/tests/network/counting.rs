//! Bytes of groups are counted, and what a killed agent leaves is removed.

use std::{fs, path::Path};

use elastane_agent::network::{self, BpfNetworks, NetworkCounters, Networks};

use crate::{
    MB, cable_device,
    netns::{Cable, End, RIGHT, RIGHT_IPV6, assert_counted, counters, exchange},
};

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
    for (counters, sent, received) in
        [(all.of(counted.slot()), 8 * MB, 5 * MB), (all.of(counted_other.slot()), MB, 2 * MB)]
    {
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
    assert!(counters(&network, &*first).sent_bytes > 1000);
    drop(first);
    let again = network.attach(&group.0).unwrap();
    assert_eq!(again.egress_class(), class);
    assert_eq!(counters(&network, &*again), NetworkCounters::default());
}

#[test]
fn a_directory_outside_of_cgroup2_is_refused() {
    let Some(cable) = Cable::new() else { return };
    let network = BpfNetworks::open().unwrap();
    let error = network.attach(Path::new("/tmp")).unwrap_err();
    assert_eq!(error.to_string(), "/tmp is not a cgroup2 group: only cgroup2 groups are measured");
    let group = cable.group("group");
    let gone = group.0.join("gone");
    let error = network.attach(&gone).unwrap_err();
    let expected = format!("cannot open group {}: No such file", gone.display());
    assert!(error.to_string().starts_with(&expected), "{error}");
    // The group is removed while it is measured.
    let counted = network.attach(&group.0).unwrap();
    fs::remove_dir(&group.0).unwrap();
    counters(&network, &*counted);
}

#[test]
fn a_killed_agent_leaves_no_program_and_its_root_is_removed() {
    let Some(cable) = Cable::new() else { return };
    let [agents, group] = ["agents", "container"].map(|name| cable.group(name));
    let before = cable.queueing_disciplines(End::Left);
    let role = format!("agent {}", group.0.display());
    let mut agent = cable.spawn(End::Left, &agents.0, &role);
    agent.wait_for("ready");
    agent.kill();
    assert_ne!(cable.queueing_disciplines(End::Left), before);
    let removed = cable.within(End::Left, || network::restore(&cable_device()).unwrap());
    assert!(removed);
    assert_eq!(cable.queueing_disciplines(End::Left), before);
}
