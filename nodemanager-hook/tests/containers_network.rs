//! A real agent counts and limits the network of a container, over the loopback device.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use common::{Agent, Parent, Tree, times_slower, wait_until};
use elastane_protocol::{Limits, Usage};

/// One megabyte on the usual machine. An emulated machine that is n times slower also does n times
/// the work per packet.
fn mb() -> u64 {
    1_000_000 / u64::from(times_slower()).pow(2)
}

/// A container that connects to a port of this test once the file `go` exists, and reads.
fn reader(port: u16, go: &std::path::Path) -> Tree {
    Tree::new(&format!(
        "python3 -c '
import os, socket, time
while not os.path.exists(\"{}\"): time.sleep(0.02)
with socket.socket() as connection:
    # Segments as of a card. A bucket of a quarter of a second holds few segments of 64 KiB.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1400)
    connection.connect((\"127.0.0.1\", {port}))
    while connection.recv(1 << 16): pass
time.sleep(60)' & wait",
        go.display()
    ))
}

/// Sends for a time, at most at the given rate; returns the rate at which the reader took bytes.
fn send(mut to: TcpStream, over: Duration, most_bytes_per_s: Option<u64>) -> f64 {
    let chunk = vec![0; (64 << 10) / times_slower().pow(2) as usize];
    let begun = Instant::now();
    let mut sent: u64 = 0;
    while begun.elapsed() < over {
        let due = most_bytes_per_s.map(|most| sent as f64 / most as f64);
        if due.is_some_and(|due| due > begun.elapsed().as_secs_f64()) {
            thread::sleep(Duration::from_millis(5));
            continue;
        }
        to.write_all(&chunk).unwrap();
        sent += chunk.len() as u64;
    }
    sent as f64 / begun.elapsed().as_secs_f64()
}

fn newest(agent: &Agent, tree: &Tree) -> Option<Usage> {
    let report = agent.report();
    let mut containers = report.containers.iter();
    let container = containers.find(|container| container.container == tree.id)?;
    Some(container.samples.last()?.usage)
}

/// Limits that put the container into a group on any host.
fn weight() -> Limits {
    Limits { cpu_weight_cores: Some(2.0), ..Limits::default() }
}

#[test]
fn received_bytes_are_counted_for_the_container_that_received_them() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let go = agent.directory().join("go");
    let tree = reader(listener.local_addr().unwrap().port(), &go);
    let idle = Tree::new("sleep 600");
    agent.runs(&[&tree, &idle]);
    agent.apply(60_000, vec![tree.limited(weight()), idle.limited(weight())]);
    std::fs::write(&go, "").unwrap();
    let (connection, _) = listener.accept().unwrap();
    let sender =
        thread::spawn(|| send(connection, Duration::from_secs(6) * times_slower(), Some(5 * mb())));
    wait_until("5 MB/s are counted", || {
        newest(&agent, &tree).is_some_and(|usage| {
            let received = usage.network_in_bytes_per_s;
            (4 * mb()..=6 * mb()).contains(&received) && usage.network_out_bytes_per_s < mb()
        })
    });
    let other = newest(&agent, &idle).unwrap();
    assert_eq!(other.network_bytes_per_s(), 0);
    assert!(agent.report().containers_usage.network_in_bytes_per_s >= 4 * mb());
    sender.join().unwrap();
}

#[test]
fn a_cap_of_the_plan_limits_received_traffic() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    assert!(agent.report().can_limit.network_received);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let go = agent.directory().join("go");
    let tree = reader(listener.local_addr().unwrap().port(), &go);
    agent.runs(&[&tree]);
    let capped = Limits { network_cap_bytes_per_s: Some(10 * mb()), ..weight() };
    agent.apply(60_000, vec![tree.limited(capped)]);
    let in_force = agent.report().containers[0].limits.unwrap();
    assert_eq!(in_force.network_cap_bytes_per_s, Some(10 * mb()));
    std::fs::write(&go, "").unwrap();
    let (mut connection, _) = listener.accept().unwrap();
    // The initial content of the bucket and of the queues does not count as rate.
    connection.write_all(&vec![0; 8 << 20]).unwrap();
    let copy = connection.try_clone().unwrap();
    let capped = send(copy, Duration::from_secs(3) * times_slower(), None);
    let ratio = capped / (10 * mb()) as f64;
    // Retransmissions count, and TCP retransmits more at slow rates.
    let least = if times_slower() > 1 { 0.8 } else { 0.9 };
    assert!((least..=1.1).contains(&ratio), "{capped:.0} bytes a second");

    agent.apply(60_000, vec![tree.limited(weight())]);
    let in_force = agent.report().containers[0].limits.unwrap();
    assert_eq!(in_force.network_cap_bytes_per_s, None);
    let free = send(connection.try_clone().unwrap(), Duration::from_secs(1), None);
    assert!(free > 3.0 * capped, "{free:.0} bytes a second without a cap");
    let reasons = agent.audited();
    assert!(reasons.iter().filter(|one| *one == "plan_step").count() >= 3);
    connection.shutdown(std::net::Shutdown::Both).unwrap();
    let _ = connection.read(&mut [0]);
}
