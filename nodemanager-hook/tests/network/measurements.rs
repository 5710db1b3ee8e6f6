//! Measurements for docs/measurements/network.md.

use std::time::Instant;

use elastane_agent::network::{BpfNetworks, EgressRate, Networks};

use crate::{
    MB, PAYLOAD_PART,
    netns::{Cable, End, RIGHT, Sink, mb_per_s, measured_for, rates},
    receive_rates, shaper, shaper_of,
};

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
    for parts in [[47, 47], [70, 23], [84, 9], [9, 9], [27, 9], [9, 1], [49, 1]] {
        let mut shaper = shaper_of(&cable, link);
        for (class, part) in classes.into_iter().zip(parts) {
            let rate = EgressRate { share_bytes_per_s: link / 100 * part, cap_bytes_per_s: None };
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
    let mut counted: Vec<_> =
        groups.iter().map(|group| network.attach(&group.0).unwrap()).collect();
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
    let limit = time(&mut || counted[0].set_receive_rate(Some(1_000_000)).unwrap());
    let mut shaper = shaper(&cable);
    let class = counted[0].egress_class();
    let rate =
        |cap| EgressRate { share_bytes_per_s: mb_per_s(1) as u64, cap_bytes_per_s: Some(cap) };
    let mut cap = MB as u64;
    let change = time(&mut || {
        cap += 1;
        shaper.change(class, rate(cap)).unwrap();
    });
    println!(
        "network groups=50 attach_us={attach_us} read_all_ns={together} receive_rate_ns={limit} \
         class_ns={change}"
    );
}
