//! What the papers published.

use elastane_core::Resource::{self, Cpu, Disk, Memory, Network};

use super::claim::{Claim, Measure};
use super::{Paper, PublishedExperiment};

/// Why Tetris is better here than it was there.
const TETRIS: &str = "Tetris is told exact peaks here and packs by them at once; what it lost in \
                      the paper beyond that is not in the model";
/// Why Static is.
const STATIC: &str = "an executor's work is its own here and its container ends with it; Spark's \
                      static executors stay until their application ends";
/// Why Dynamic is.
const DYNAMIC: &str = "the published series have no pauses of a minute in which it would release \
                       an executor, so that it is Static with a slower start";
/// Why levels are.
const LEVELS: &str = "means of Table II leave CPU at 26 to 59 % and network at 5 to 18 % of an \
                      executor's peak, so that disks are what this mix runs out of; which mean \
                      over machines and time Table VI takes is not published";

/// Elasecutor.
pub const ELASECUTOR: Paper = Paper {
    name: "elasecutor",
    title: "Elasecutor, IEEE/ACM Transactions on Networking 29(2), 2021",
    experiments: &[
        PublishedExperiment {
            workload: "elasecutor",
            policies: &["minfrag", "trc", "static", "dynamic", "tetris"],
            claims: &[
                best_cut("abstract", 36.0, STATIC),
                makespan_cut("section VI-C", "minfrag", "static", 40.0, STATIC),
                makespan_cut("section VI-C", "minfrag", "dynamic", 40.0, DYNAMIC),
                makespan_cut("section VI-C", "minfrag", "tetris", 60.0, TETRIS),
                makespan_cut("Table XI", "minfrag", "trc", 11.5, TRC),
                gain("static", Cpu, 43.4),
                gain("static", Memory, 29.5),
                gain("static", Network, 40.8),
                gain("static", Disk, 25.4),
                gain("dynamic", Cpu, 27.2),
                gain("dynamic", Memory, 22.6),
                gain("dynamic", Network, 33.4),
                gain("dynamic", Disk, 40.0),
                gain("tetris", Cpu, 28.6),
                gain("tetris", Memory, 25.2),
                gain("tetris", Network, 55.6),
                gain("tetris", Disk, 43.9),
                above("minfrag", Cpu, 0, 97.0),
                above("minfrag", Cpu, 1, 89.2),
                above("minfrag", Memory, 0, 70.7),
                above("minfrag", Network, 0, 68.7),
                above("minfrag", Disk, 0, 59.2),
                above("minfrag", Disk, 1, 37.0),
                above("minfrag", Disk, 2, 0.0),
                above("static", Cpu, 0, 61.3),
                above("static", Memory, 0, 37.0),
                above("static", Network, 0, 30.7),
                above("static", Disk, 0, 49.3),
                above("static", Disk, 1, 37.2),
                above("static", Disk, 2, 30.6),
                above("dynamic", Disk, 0, 51.2),
                above("dynamic", Disk, 1, 32.4),
                above("dynamic", Disk, 2, 26.9),
                above("tetris", Disk, 0, 37.2),
                above("tetris", Disk, 1, 18.8),
                above("tetris", Disk, 2, 0.0),
            ],
        },
        PublishedExperiment {
            workload: "elasecutor-tpch",
            policies: &["minfrag", "static", "dynamic", "tetris"],
            claims: &[
                makespan_cut("Table VIII", "minfrag", "static", 47.3, STATIC),
                makespan_cut("Table VIII", "minfrag", "dynamic", 41.6, DYNAMIC),
                makespan_cut("Table VIII", "minfrag", "tetris", 54.2, TETRIS),
            ],
        },
        PublishedExperiment {
            workload: "lockstep",
            policies: &["minfrag", "static"],
            claims: &[makespan_cut(
                "nothing to gain",
                "minfrag",
                "static",
                0.0,
                "",
            )],
        },
    ],
};

const TRC: &str = "scores decide only which of several fitting executors goes first, and here \
                   the disk binds under both";

/// Why makespans are.
const SIZES: &str = "executors an application and the series of the benchmarks are not \
                     published, so the amount of work is not the paper's";
/// Why Prophet is.
const GANGS: &str = "an application waits here until all of its executors fit by request at once, \
                     and nothing is placed above what was asked for";

/// Prophet.
pub const PROPHET: Paper = Paper {
    name: "prophet",
    title: "Prophet, ICAC 2016",
    experiments: &[PublishedExperiment {
        workload: "prophet",
        policies: &["prophet", "capacity", "drf", "tetris", "minfrag"],
        claims: &[
            makespan("capacity", 16_604.0),
            makespan("drf", 18_369.0),
            makespan("tetris", 25_537.0),
            makespan("prophet", 11_290.0),
            makespan_cut("Table III", "prophet", "capacity", 32.0, GANGS),
            makespan_cut("Table III", "prophet", "drf", 39.0, GANGS),
            makespan_cut("Table III", "prophet", "tetris", 56.0, GANGS),
            Claim {
                source: "section VI",
                measure: Measure::MedianCompletionCut {
                    of: "prophet",
                    than: "capacity",
                },
                published: 23.0,
                because: GANGS,
            },
        ],
    }],
};

const fn makespan(of: &'static str, published: f64) -> Claim {
    Claim {
        source: "Table III",
        measure: Measure::Makespan { of },
        published,
        because: SIZES,
    }
}

const fn makespan_cut(
    source: &'static str,
    of: &'static str,
    than: &'static str,
    published: f64,
    because: &'static str,
) -> Claim {
    Claim {
        source,
        measure: Measure::MakespanCut { of, than },
        published,
        because,
    }
}

const fn best_cut(source: &'static str, published: f64, because: &'static str) -> Claim {
    Claim {
        source,
        measure: Measure::MakespanCutOfBest {
            of: "minfrag",
            than: &["static", "dynamic", "tetris"],
        },
        published,
        because,
    }
}

const fn gain(than: &'static str, resource: Resource, published: f64) -> Claim {
    Claim {
        source: "Table VII",
        measure: Measure::UtilizationGain {
            of: "minfrag",
            than,
            resource,
        },
        published,
        because: "the same work in less time: it follows the makespan",
    }
}

const fn above(of: &'static str, resource: Resource, level: usize, published: f64) -> Claim {
    Claim {
        source: "Table VI",
        measure: Measure::TimeAbove {
            of,
            resource,
            level,
        },
        published,
        because: LEVELS,
    }
}
