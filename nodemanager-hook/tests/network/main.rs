//! Real traffic between network namespaces, counted and limited by BPF.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

#[path = "../common/mod.rs"]
mod common;
mod counting;
mod limits;
mod measurements;
#[allow(dead_code, reason = "some helpers are for the tests of the fallbacks")]
#[path = "../common/netns/mod.rs"]
mod netns;

use std::{path::Path, thread};

use elastane_agent::network::{BpfNetworks, NetworkDevice, Networks, Shaper};
use netns::{Cable, End, link_bytes_per_s};

const MB: usize = 1_000_000;
/// The part of a link's rate without Ethernet, IP and TCP headers.
const PAYLOAD_PART: f64 = 1448.0 / 1514.0;

/// The entry of the processes that other tests start.
#[test]
fn plays_its_role() {
    netns::play(|role| match role {
        ["agent", group] => {
            let network = BpfNetworks::open().unwrap();
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

fn cable_device() -> NetworkDevice {
    "cable".parse().unwrap()
}

fn shaper(cable: &Cable) -> Shaper {
    shaper_of(cable, link_bytes_per_s())
}

fn shaper_of(cable: &Cable, link_bytes_per_s: u64) -> Shaper {
    cable.within(End::Left, || Shaper::prepare(&cable_device(), link_bytes_per_s).unwrap())
}

/// The rates of a TCP connection with a receive limit and then without it, in bytes per second.
fn receive_rates(cable: &Cable, bytes_per_s: usize) -> [f64; 2] {
    let group = cable.group("receiver");
    let network = BpfNetworks::open().unwrap();
    let mut counted = network.attach(&group.0).unwrap();
    netns::receive_rates(cable, &group.0, (&network, &mut *counted), bytes_per_s, bytes_per_s / 2)
}
