//! Random events of a cluster.

use std::sync::LazyLock;

use elastane_core::cluster::{Ask, Request, Standing};
use elastane_core::{ContainerKind, Demand, Resources};
use proptest::prelude::*;

/// An event of a cluster; numbers select among the existing objects.
#[derive(Debug, Clone)]
pub enum Event {
    Submitted(Submission),
    Asks {
        application: usize,
        ask: Ask,
    },
    Moved {
        application: usize,
        queue: u8,
    },
    Removed {
        application: usize,
    },
    /// Commits the first application of a round.
    Committed {
        node: usize,
    },
    /// A container that runs whatever the core says.
    Told {
        application: usize,
        node: usize,
        age_ms: i64,
    },
    /// CapacityScheduler skips the first applications of a round.
    Skipped {
        node: usize,
        count: usize,
    },
    /// What an application asks for beside memory and virtual cores, and whether rounds order its queue.
    AsksBeside {
        application: usize,
        amount: u64,
        standing: Standing,
    },
    Finished {
        container: usize,
    },
    Measured {
        container: usize,
        memory_bytes: f64,
    },
    Resized {
        node: usize,
        memory_gb: u64,
    },
    Passed {
        ms: i64,
    },
    PutBack {
        ms: i64,
    },
}

#[derive(Debug, Clone)]
pub struct Submission {
    pub queue: u8,
    pub demand: Option<Demand>,
    pub master_demand: Option<Demand>,
    pub margin: f64,
    pub ask: Ask,
    /// From the submission on.
    pub due_in_ms: Option<i64>,
}

pub const GB: u64 = 1_000_000_000;

/// Amounts with exact sums and quotients, so that equal scores tie.
fn amounts() -> impl Strategy<Value = Resources> {
    let parts = (0_u8..12, 0_u8..12, 0_u8..8, prop_oneof![3 => Just(0_u8), 1 => 0_u8..8]);
    parts.prop_map(|(cpu, memory, network, disk)| {
        Resources::from_array([
            f64::from(cpu) / 4.0,
            f64::from(memory) * 5e8,
            f64::from(network) * 1e6,
            f64::from(disk) * 1e6,
        ])
    })
}

/// Series shared by several applications, long enough to be cached in a round.
static SHARED: LazyLock<Vec<Demand>> = LazyLock::new(|| {
    let large_late = |cores: f64, from: usize| {
        let slot = |slot: usize| {
            let cores = if slot < from { 0.5 } else { cores };
            Resources::from_array([cores, 1e9, 1e6, 1e6])
        };
        let slots: Vec<_> = (0..256).map(slot).collect();
        Demand::series(3_000, &slots).unwrap()
    };
    vec![large_late(3.0, 100), large_late(4.0, 300), large_late(5.5, 520)]
});

fn demand() -> impl Strategy<Value = Demand> {
    prop_oneof![
        6 => any_demand(),
        1 => prop::sample::select(SHARED.as_slice()),
    ]
}

fn any_demand() -> impl Strategy<Value = Demand> {
    let slot_ms = prop_oneof![6 => Just(3_000), 1 => Just(1_000), 1 => Just(4_500)];
    let slots = prop_oneof![
        3 => prop::collection::vec(amounts(), 1..6),
        1 => prop::collection::vec(amounts(), 15..22),
    ];
    (slot_ms, slots).prop_map(|(slot_ms, slots)| Demand::series(slot_ms, &slots).unwrap())
}

fn kind() -> impl Strategy<Value = ContainerKind> {
    prop_oneof![
        1 => Just(ContainerKind::ApplicationMaster),
        3 => Just(ContainerKind::DEFAULT_EXECUTOR),
        1 => Just(ContainerKind::Executor { priority: 1 }),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let often_like = prop_oneof![3 => Just((2_u64, 1_u32)), 1 => (0_u64..8, 0_u32..6)];
    (kind(), 0..2, often_like, 0_u32..4).prop_map(|(kind, priority, (memory_gb, vcores), count)| {
        Ask { kind, priority, request: Request { memory_bytes: memory_gb * GB, vcores }, count }
    })
}

pub fn submission() -> impl Strategy<Value = Submission> {
    let margin = prop_oneof![Just(0.0), Just(0.25), Just(0.5)];
    let demand = || prop::option::weighted(0.8, demand());
    let due_in_ms = prop::option::weighted(0.3, 0_i64..60_000);
    (0_u8..3, demand(), demand(), margin, ask(), due_in_ms).prop_map(
        |(queue, demand, master_demand, margin, ask, due_in_ms)| Submission {
            queue,
            due_in_ms,
            demand,
            master_demand,
            margin,
            ask: Ask { count: ask.count + 1, ..ask },
        },
    )
}

fn standing() -> impl Strategy<Value = Standing> {
    prop_oneof![8 => Just(Standing::Ordered), 1 => Just(Standing::ByItsQueue), 1 => Just(Standing::Held)]
}

pub fn event() -> impl Strategy<Value = Event> {
    let any = || 0_usize..1_000;
    prop_oneof![
        6 => submission().prop_map(Event::Submitted),
        2 => (any(), ask()).prop_map(|(application, ask)| Event::Asks { application, ask }),
        1 => (any(), 0_u8..3).prop_map(|(application, queue)| Event::Moved { application, queue }),
        1 => any().prop_map(|application| Event::Removed { application }),
        6 => any().prop_map(|node| Event::Committed { node }),
        1 => (any(), any(), -4_000_i64..70_000).prop_map(|(application, node, age_ms)| {
            Event::Told { application, node, age_ms }
        }),
        2 => (any(), 1_usize..9).prop_map(|(node, count)| Event::Skipped { node, count }),
        1 => (any(), 0_u64..3, standing()).prop_map(
            |(application, amount, standing)| Event::AsksBeside { application, amount, standing },
        ),
        2 => any().prop_map(|container| Event::Finished { container }),
        2 => (any(), 0_u8..8).prop_map(|(container, half_gb)| Event::Measured {
            container,
            memory_bytes: f64::from(half_gb) * 5e8,
        }),
        1 => (any(), 1_u64..17).prop_map(|(node, memory_gb)| Event::Resized { node, memory_gb }),
        4 => prop_oneof![0_i64..9_000, 0_i64..70_000, 0_i64..320_000].prop_map(|ms| Event::Passed { ms }),
        1 => (0_i64..9_000).prop_map(|ms| Event::PutBack { ms }),
    ]
}
