//! A resource and its queue of monotasks.

use elastane_lab::monotasks::{Server, Sharing};
use proptest::prelude::*;

/// Ends every monotask of a server; returns the times and the tasks.
fn drain(server: &mut Server) -> Vec<(f64, u32)> {
    let mut ends = Vec::new();
    while server.next_end_s().is_finite() {
        let end_s = server.next_end_s();
        ends.push((end_s, server.end_next(end_s).unwrap()));
    }
    ends
}

fn shared(rate: f64, limit: usize) -> Sharing {
    Sharing { rate, most_each: rate, limit, undisturbed: limit, interference: 0.0 }
}

#[test]
fn a_queue_limits_sharing_and_starts_the_highest_priority_first() {
    let mut server = Server::new(shared(10.0, 2));
    for (task, work, priority) in [(0, 10.0, 0.0), (1, 20.0, 0.0), (2, 10.0, 1.0), (3, 10.0, 2.0)] {
        server.submit(0.0, task, work, priority);
    }
    // Two tasks run at 5 a second: task 0 ends at 2 s, then task 3 shares with task 1 until both end at 4 s.
    assert_eq!((server.active(), server.waiting()), (2, 2));
    assert_eq!(drain(&mut server), [(2.0, 0), (4.0, 1), (4.0, 3), (5.0, 2)]);
}

#[test]
fn more_monotasks_than_undisturbed_lose_part_of_the_rate() {
    let sharing =
        Sharing { limit: usize::MAX, undisturbed: 2, interference: 0.5, ..shared(10.0, 0) };
    let mut server = Server::new(sharing);
    for task in 0..4 {
        server.submit(0.0, task, 10.0, 0.0);
    }
    // Twice as many as undisturbed: 40 units of work at 10 / 1.5 a second.
    assert!((drain(&mut server)[3].0 - 6.0).abs() < 1e-9);
}

proptest! {
    #[test]
    fn queues_conserve_work(
        works in prop::collection::vec((0.1..50.0_f64, 0.0..3.0_f64), 1..40),
        limit in 1_usize..6,
    ) {
        let mut server = Server::new(shared(7.0, limit));
        let mut left = 0.0;
        for (task, (work, priority)) in works.iter().enumerate() {
            server.submit(0.0, task as u32, *work, *priority);
            left += work;
        }
        let mut now_s = 0.0;
        while server.next_end_s().is_finite() {
            let end_s = server.next_end_s();
            left -= 7.0 * (end_s - now_s);
            now_s = end_s;
            server.end_next(now_s);
            prop_assert!((server.work_left(now_s) - left).abs() < 1e-6);
        }
        prop_assert!(left.abs() < 1e-6);
    }
}
