//! The records of the decision journal that `elastane decisions` prints.

use serde::Deserialize;

/// A line of the journal.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    #[serde(default)]
    pub(crate) time_ms: i64,
    #[serde(flatten)]
    pub(crate) record: Record,
}

/// What was decided; other kinds are ignored.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Record {
    Placed(Placed),
    Refused(Refused),
    Finished {
        container: String,
        #[serde(default)]
        node: String,
    },
    Bookable {
        node: String,
        ratio: f64,
        #[serde(default)]
        reason: String,
    },
    Preemption(Preemption),
    Reprovision(Reprovision),
    Learned {
        application: String,
        profile: String,
        outcome: String,
        runs: usize,
    },
    #[serde(other)]
    Other,
}

/// Earlier versions wrote fewer fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Placed {
    pub(crate) application: String,
    pub(crate) application_name: String,
    pub(crate) container: String,
    pub(crate) node: String,
    pub(crate) reason: String,
    pub(crate) application_master: bool,
    pub(crate) request_priority: Option<i32>,
    pub(crate) profile: Option<String>,
    pub(crate) score: Option<f64>,
    pub(crate) memory_bytes: u64,
    pub(crate) vcores: u32,
    pub(crate) booked_memory_bytes: u64,
    pub(crate) booked_vcores: u32,
    pub(crate) physical_memory_bytes: u64,
    pub(crate) physical_vcores: u32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Refused {
    pub(crate) application: String,
    pub(crate) node: String,
    pub(crate) reason: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Preemption {
    pub(crate) node: String,
    pub(crate) container: String,
    pub(crate) application: Option<String>,
    pub(crate) outcome: String,
    pub(crate) resident_bytes: u64,
    pub(crate) short_bytes: u64,
    pub(crate) reason: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Reprovision {
    pub(crate) node: String,
    pub(crate) container: String,
    pub(crate) application: String,
    pub(crate) what: String,
    pub(crate) slowness: Option<f64>,
    pub(crate) slow: Option<String>,
    pub(crate) predicted: Option<Amounts>,
    pub(crate) lent: Option<Amounts>,
    pub(crate) used: Option<Amounts>,
    pub(crate) factors: Option<[f64; 4]>,
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Amounts {
    pub(crate) cpu_cores: f64,
    pub(crate) memory_bytes: f64,
    pub(crate) network_bytes_per_s: f64,
    pub(crate) disk_bytes_per_s: f64,
}

impl Record {
    /// The application of the record; the end of a container names only the container.
    pub(crate) fn application(&self) -> Option<&str> {
        match self {
            Record::Placed(Placed { application, .. })
            | Record::Refused(Refused { application, .. })
            | Record::Learned { application, .. }
            | Record::Reprovision(Reprovision { application, .. }) => Some(application),
            Record::Preemption(preemption) => preemption.application.as_deref(),
            Record::Finished { .. } | Record::Bookable { .. } | Record::Other => None,
        }
    }
}
