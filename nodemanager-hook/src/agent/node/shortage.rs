//! The order of measures against a shortage of the node's memory: JVMs are asked to return memory,
//! then containers are named, then one is killed.

use std::time::{Duration, Instant};

/// The longest time that JVMs get before containers are named. G1 takes 4 s
/// (`docs/measurements/jvm.md`) and is asked after one or two readings. YARN's preemption takes 15 s more by default.
const MAX_GIVING_BACK: Duration = Duration::from_secs(5);
/// A node that is short again within this time is in the same shortage and does not wait for the
/// JVMs again.
const OVER_AFTER: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Shortage {
    kill_after: Duration,
    begun: Option<Instant>,
    /// The newest short reading.
    newest: Option<Instant>,
    /// The later of the first short reading without a break and the last kill.
    unbroken_since: Option<Instant>,
    is_naming: bool,
}

impl Shortage {
    /// `kill_after`: how long the node must be short before a container is killed.
    pub fn new(kill_after: Duration) -> Self {
        Self { kill_after, begun: None, newest: None, unbroken_since: None, is_naming: false }
    }

    /// Takes a reading. `can_give_back`: whether any JVM could return memory.
    pub fn read(&mut self, is_short: bool, can_give_back: bool, now: Instant) {
        if !is_short {
            self.unbroken_since = None;
            self.is_naming = false;
            let is_over = |newest: Instant| now.saturating_duration_since(newest) >= OVER_AFTER;
            if self.newest.is_none_or(is_over) {
                (self.begun, self.newest) = (None, None);
            }
            return;
        }
        self.newest = Some(now);
        self.unbroken_since.get_or_insert(now);
        let begun = *self.begun.get_or_insert(now);
        let has_waited = now.saturating_duration_since(begun) >= self.giving_back();
        self.is_naming |= has_waited || !can_give_back;
    }

    /// Whether JVMs have to be small.
    pub fn asks_jvms(&self) -> bool {
        self.begun.is_some()
    }

    pub fn is_naming(&self) -> bool {
        self.is_naming
    }

    /// Whether the shortage has lasted long enough to kill.
    pub fn has_lasted(&self, now: Instant) -> bool {
        self.unbroken_since
            .is_some_and(|since| now.saturating_duration_since(since) >= self.kill_after)
    }

    /// Restarts `kill_after`, so that the next container gets as much time to give way as the killed one.
    pub fn killed(&mut self, now: Instant) {
        self.unbroken_since = Some(now);
    }

    /// How long JVMs may take: at most half of `kill_after`, so that a named container has the other half.
    fn giving_back(&self) -> Duration {
        MAX_GIVING_BACK.min(self.kill_after / 2)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Takes one reading per second.
    struct TestNode {
        shortage: Shortage,
        start: Instant,
        second: u64,
    }

    impl TestNode {
        fn new(kill_after_s: u64) -> Self {
            Self {
                shortage: Shortage::new(Duration::from_secs(kill_after_s)),
                start: Instant::now(),
                second: 0,
            }
        }

        /// Returns the measures in force: `JVMs`, `named`, `kill`.
        fn read(&mut self, is_short: bool, can_give_back: bool) -> Vec<&'static str> {
            let now = self.start + Duration::from_secs(self.second);
            self.second += 1;
            let shortage = &mut self.shortage;
            shortage.read(is_short, can_give_back, now);
            let all = [
                (shortage.asks_jvms(), "JVMs"),
                (shortage.is_naming(), "named"),
                (shortage.has_lasted(now), "kill"),
            ];
            all.into_iter().filter_map(|(is, name)| is.then_some(name)).collect()
        }

        fn read_for(&mut self, seconds: u64, is_short: bool, can_give_back: bool) {
            for _ in 0..seconds {
                self.read(is_short, can_give_back);
            }
        }
    }

    #[test]
    fn jvms_give_back_then_containers_are_named_then_one_is_killed() {
        let mut node = TestNode::new(10);
        for _ in 0..5 {
            assert_eq!(node.read(true, true), ["JVMs"]);
        }
        for _ in 5..10 {
            assert_eq!(node.read(true, true), ["JVMs", "named"]);
        }
        assert_eq!(node.read(true, true), ["JVMs", "named", "kill"]);
    }

    #[test]
    fn a_node_whose_jvms_have_nothing_to_give_back_names_at_once() {
        let mut node = TestNode::new(10);
        assert_eq!(node.read(true, false), ["JVMs", "named"]);
        let mut other = TestNode::new(10);
        assert_eq!(other.read(true, true), ["JVMs"]);
        assert_eq!(other.read(true, false), ["JVMs", "named"]);
    }

    #[test]
    fn no_container_is_named_when_jvms_return_enough_and_jvms_are_restored_after_10_s() {
        let mut node = TestNode::new(10);
        node.read_for(4, true, true);
        for _ in 0..9 {
            assert_eq!(node.read(false, true), ["JVMs"]);
        }
        assert!(node.read(false, true).is_empty());
        // A later shortage is a new one.
        assert_eq!(node.read(true, true), ["JVMs"]);
    }

    #[test]
    fn a_shortage_that_comes_back_soon_does_not_wait_for_jvms_again() {
        let mut node = TestNode::new(10);
        node.read_for(3, true, true);
        node.read_for(5, false, true);
        assert_eq!(node.read(true, true), ["JVMs", "named"]);
        assert_eq!(node.read(false, true), ["JVMs"]);
        // The time before a kill starts anew.
        node.read_for(9, true, true);
        assert_eq!(node.read(true, true), ["JVMs", "named"]);
        assert_eq!(node.read(true, true), ["JVMs", "named", "kill"]);
    }

    #[test]
    fn after_a_kill_the_next_one_has_as_long() {
        let mut node = TestNode::new(10);
        node.read_for(11, true, true);
        node.shortage.killed(node.start + Duration::from_secs(node.second));
        for _ in 0..10 {
            assert_eq!(node.read(true, true), ["JVMs", "named"]);
        }
        assert_eq!(node.read(true, true), ["JVMs", "named", "kill"]);
    }

    proptest! {
        /// JVMs that can return memory are asked before a container is named, for a bounded time,
        /// and no container is killed that was not named for half of `kill_after`.
        #[test]
        fn the_order_is_kept(
            kill_after_s in 2..20_u64,
            readings in prop::collection::vec((0..20_u8, 0..8_u8), 1..120),
        ) {
            let mut node = TestNode::new(kill_after_s);
            let wait_s = 5.0_f64.min(kill_after_s as f64 / 2.0);
            let (mut begun, mut last_short, mut named_for) = (0, None, 0);
            let mut nobody_could = false;
            for (second, (calm, nobody)) in (0_u64..).zip(readings) {
                let (is_short, can_give_back) = (calm > 0, nobody > 0);
                let done = node.read(is_short, can_give_back);
                let is_named = done.contains(&"named");
                named_for = if is_named { named_for + 1 } else { 0 };
                prop_assert!(!done.contains(&"kill") || named_for * 2 >= kill_after_s);
                if !is_short {
                    nobody_could = false;
                    prop_assert!(!is_named);
                    continue;
                }
                if last_short.is_none_or(|last| second - last > 10) {
                    begun = second;
                }
                last_short = Some(second);
                nobody_could |= !can_give_back;
                let has_waited = (second - begun) as f64 >= wait_s;
                prop_assert!(done.contains(&"JVMs"));
                prop_assert_eq!(is_named, has_waited || nobody_could);
            }
        }
    }
}
