use super::bench::{Bench, MIB, WATCH};
use crate::memory_watch::wake_at;

#[test]
fn a_raise_is_taken_over_before_limits_are_computed_also_after_its_watch() {
    for is_dropped in [false, true] {
        let mut bench = Bench::new();
        bench.limit(160);
        assert_eq!(bench.max_and_high(), [160 * MIB, 96 * MIB]);
        bench.allow_raises();
        bench.hold(230);
        bench.actuator.urgent_raises.raise(WATCH);
        let [max, high] = bench.max_and_high();
        assert!(max > 230 * MIB && high == wake_at(max), "{max} {high}");
        if is_dropped {
            bench.container.forbid_raises(&bench.actuator.urgent_raises);
            bench.container.watched = None;
        }
        // More than the limit before the raise, and less than what is charged.
        bench.limit(200);
        bench.wait_for_threads();
        let [still, lowered] = bench.max_and_high();
        assert!(still == max && lowered < high, "{still} {lowered}: not as a raise to 200 MiB");
        assert_eq!(bench.in_force().map(wake_at), Some(lowered));
        assert_eq!(bench.troubles("limits"), 0);
        assert_eq!(bench.troubles("limits raised while the agent was busy"), 1);
        bench.hold(20);
        bench.limit(200);
        bench.limit(200);
        assert_eq!(bench.max_and_high(), [200 * MIB, 136 * MIB]);
    }
}

#[test]
fn memory_max_falls_again_after_a_raise_of_it_alone() {
    let mut bench = Bench::new();
    bench.limit(160);
    bench.allow_raises();
    bench.hold(100);
    let sealed = bench.seal("memory.high");
    bench.actuator.urgent_raises.raise(WATCH);
    let [max, high] = bench.max_and_high();
    assert!(max > 160 * MIB && high == 96 * MIB, "{max} {high}");
    bench.unseal("memory.high");
    drop(sealed);
    bench.hold(20);
    bench.audit();
    bench.limit(160);
    assert_eq!(bench.troubles("limits"), 1);
    assert_eq!(bench.max_and_high(), [160 * MIB, 96 * MIB]);
    // The audit file has the raise, though it failed.
    let written = |file: &str, bytes: u64| (file.to_owned(), bytes.to_string());
    let expected = [written("memory.max", max), written("memory.max", 160 * MIB)];
    assert_eq!(bench.audited(), expected);
}

#[test]
fn the_audit_file_has_a_raise_of_memory_max_alone_also_after_a_write_that_failed() {
    let mut bench = Bench::new();
    bench.limit(800);
    bench.set("memory.current", &(600 * MIB).to_string());
    let _sealed = bench.seal("memory.high");
    bench.limit(160);
    bench.wait_for_threads();
    bench.allow_raises();
    bench.hold(790);
    bench.actuator.urgent_raises.raise(WATCH);
    let [max, high] = bench.max_and_high();
    assert!(max > 800 * MIB && high == wake_at(800 * MIB), "{max} {high}");
    bench.audit();
    bench.limit(160);
    assert_eq!(bench.audited().first(), Some(&("memory.max".to_owned(), max.to_string())));
}

#[test]
fn a_memory_max_that_was_refused_is_written_later() {
    let mut bench = Bench::new();
    let sealed = bench.seal("memory.max");
    bench.limit(160);
    assert_eq!([bench.text("memory.max"), bench.text("memory.high")], ["max", "100663296"]);
    assert_eq!((bench.in_force(), bench.troubles("limits")), (Some(160 * MIB), 1));
    bench.unseal("memory.max");
    drop(sealed);
    bench.limit(160);
    assert_eq!(bench.max_and_high(), [160 * MIB, 96 * MIB]);
    assert_eq!(bench.troubles("limits"), 1);
}
