use proptest::prelude::*;

use super::*;

const MIB: u64 = 1024 * 1024;

fn kind(collector: Collector, java_version: u32) -> CollectorKind {
    CollectorKind { collector, java_version }
}

fn g1(min: u64, max: u64, interval: u64) -> Flags {
    Flags::from([
        (Flag::MinHeapFreeRatio, min),
        (Flag::MaxHeapFreeRatio, max),
        (Flag::G1PeriodicGCInterval, interval),
    ])
}

fn soft(bytes: u64) -> Flags {
    Flags::from([(Flag::SoftMaxHeapSize, bytes)])
}

fn shrink() -> Wish {
    Wish::Shrink { heap_bytes: 100 * MIB, used_bytes: 300 * MIB }
}

/// The commands as in the audit log.
fn sent(kind: CollectorKind, former: &Flags, wish: Wish) -> String {
    let commands = recipe(kind, former, wish);
    let texts: Vec<String> = commands.iter().map(ToString::to_string).collect();
    texts.join(" ")
}

#[test]
fn g1_shrinks_by_ratios_and_periodic_collections() {
    let (g1_17, former) = (kind(Collector::G1, 17), g1(40, 70, 0));
    assert_eq!(
        sent(g1_17, &former, shrink()),
        "MinHeapFreeRatio=10 MaxHeapFreeRatio=20 G1PeriodicGCInterval=3000"
    );
    assert_eq!(sent(g1_17, &former, Wish::Hold), "G1PeriodicGCInterval=0");
    assert_eq!(
        sent(g1_17, &former, Wish::Restore),
        "MaxHeapFreeRatio=70 MinHeapFreeRatio=40 G1PeriodicGCInterval=0"
    );
}

#[test]
fn flags_that_are_tighter_already_are_not_loosened() {
    assert_eq!(
        sent(kind(Collector::G1, 17), &g1(0, 5, 1000), shrink()),
        "MinHeapFreeRatio=0 MaxHeapFreeRatio=5 G1PeriodicGCInterval=1000"
    );
    assert_eq!(
        sent(kind(Collector::Z, 17), &soft(60 * MIB), shrink()),
        format!("SoftMaxHeapSize={}", 60 * MIB)
    );
}

#[test]
fn serial_shrinks_by_ratios() {
    let serial = kind(Collector::Serial, 17);
    let former = Flags::from([(Flag::MinHeapFreeRatio, 40), (Flag::MaxHeapFreeRatio, 70)]);
    let tight = "MinHeapFreeRatio=10 MaxHeapFreeRatio=20";
    assert_eq!(sent(serial, &former, shrink()), tight);
}

#[test]
fn zgc_gets_a_soft_bound_and_its_former_one_back() {
    let (z, former) = (kind(Collector::Z, 25), soft(700 * MIB));
    let bound = |mib: u64| format!("SoftMaxHeapSize={}", mib * MIB);
    assert_eq!(sent(z, &former, shrink()), bound(100));
    assert_eq!(sent(z, &former, Wish::Hold), "");
    let grow = |mib| Wish::Grow { heap_bytes: mib * MIB };
    assert_eq!(sent(z, &former, grow(400)), bound(400));
    assert_eq!(sent(z, &former, grow(900)), bound(700));
    assert_eq!(sent(z, &former, grow(0)), bound(16));
    assert_eq!(sent(z, &former, Wish::Restore), bound(700));
}

#[test]
fn newer_shenandoah_is_never_bounded_below_what_it_uses() {
    let former = soft(700 * MIB);
    let old = kind(Collector::Shenandoah, 17);
    let bound = |mib: u64| format!("SoftMaxHeapSize={}", mib * MIB);
    assert_eq!(sent(old, &former, shrink()), bound(100));
    let new = kind(Collector::Shenandoah, 25);
    assert_eq!(sent(new, &former, shrink()), bound(330));
}

#[test]
fn only_a_collector_that_runs_for_the_request_could_give_garbage_back() {
    let heap = HeldHeap { used_bytes: 300 * MIB, committed_bytes: 600 * MIB };
    let most = |collector, version| kind(collector, version).most_given_back(heap) / MIB;
    // A periodic collection of G1 may find that nothing is live.
    assert_eq!(most(Collector::G1, 17), 600);
    assert_eq!(most(Collector::Serial, 17), 300);
    for soft in [Collector::Z, Collector::Shenandoah] {
        assert_eq!(most(soft, 17), 270);
    }
    for none in [Collector::Parallel, Collector::Other] {
        assert_eq!(most(none, 17), 0);
    }
    assert_eq!(most(Collector::G1, 11), 0);
}

#[test]
fn parallel_unknown_and_old_collectors_are_left_alone() {
    for kind in [kind(Collector::Parallel, 17), kind(Collector::Other, 17), kind(Collector::G1, 8)]
    {
        for wish in [shrink(), Wish::Hold, Wish::Restore] {
            assert_eq!(sent(kind, &g1(40, 70, 0), wish), "", "{kind:?}");
        }
        assert!(kind.flags().is_empty());
    }
}

#[test]
fn a_flag_without_a_former_value_is_not_changed() {
    let only_max = Flags::from([(Flag::MaxHeapFreeRatio, 70)]);
    let text = sent(kind(Collector::G1, 17), &only_max, shrink());
    assert_eq!(text, "MaxHeapFreeRatio=20");
    let z = kind(Collector::Z, 17);
    assert_eq!(sent(z, &Flags::new(), shrink()), "");
}

fn any_wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        any::<(u64, u64)>()
            .prop_map(|(heap_bytes, used_bytes)| Wish::Shrink { heap_bytes, used_bytes }),
        Just(Wish::Hold),
        any::<u64>().prop_map(|heap_bytes| Wish::Grow { heap_bytes }),
        Just(Wish::Restore),
    ]
}

proptest! {
    /// The JVM refuses a Min above Max, so no prefix of the commands may lead to one.
    #[test]
    fn min_is_never_above_max(
        former_min in 0_u64..=100,
        former_span in 0_u64..=100,
        wishes in prop::collection::vec((any_wish(), 0_usize..4), 1..8),
    ) {
        let former_max = (former_min + former_span).min(100);
        let former = g1(former_min, former_max, 0);
        let mut now = former.clone();
        for (wish, sent) in wishes {
            let commands = recipe(kind(Collector::G1, 17), &former, wish);
            for command in commands.into_iter().take(sent) {
                if let JvmCommand::SetFlag { flag, value } = command {
                    now.insert(flag, value);
                }
                prop_assert!(now[&Flag::MinHeapFreeRatio] <= now[&Flag::MaxHeapFreeRatio]);
            }
        }
    }

    /// The JVM refuses a soft bound above the one that it was started with.
    #[test]
    fn a_soft_bound_is_never_above_the_former_one(
        most in any::<u64>(), wish in any_wish(), version in 8_u32..30,
    ) {
        for collector in [Collector::Z, Collector::Shenandoah] {
            for command in recipe(kind(collector, version), &soft(most), wish) {
                if let JvmCommand::SetFlag { value, .. } = command {
                    prop_assert!(value <= most);
                }
            }
        }
    }
}
