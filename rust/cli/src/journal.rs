//! The records of the decision journal that `elastane decisions` prints.

use serde::Deserialize;

/// A line of the journal; other kinds are ignored.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Record {
    Placed(Placed),
    Refused(Refused),
    Finished(Finished),
    Bookable(Bookable),
    Preemption(Preemption),
    Reprovision(Reprovision),
    Learned(Learned),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Placed {
    pub(crate) time_ms: i64,
    pub(crate) application: String,
    #[serde(default)]
    pub(crate) application_name: String,
    pub(crate) container: String,
    pub(crate) node: String,
    pub(crate) reason: String,
    #[serde(default)]
    pub(crate) application_master: bool,
    pub(crate) request_priority: Option<i32>,
    pub(crate) profile: Option<String>,
    pub(crate) score: Option<f64>,
    #[serde(default)]
    pub(crate) memory_bytes: u64,
    #[serde(default)]
    pub(crate) vcores: u32,
    #[serde(default)]
    pub(crate) booked_memory_bytes: u64,
    #[serde(default)]
    pub(crate) booked_vcores: u32,
    #[serde(default)]
    pub(crate) physical_memory_bytes: u64,
    #[serde(default)]
    pub(crate) physical_vcores: u32,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Refused {
    pub(crate) time_ms: i64,
    pub(crate) application: String,
    pub(crate) node: String,
    pub(crate) reason: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Finished {
    pub(crate) time_ms: i64,
    pub(crate) container: String,
    #[serde(default)]
    pub(crate) node: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Bookable {
    pub(crate) time_ms: i64,
    pub(crate) node: String,
    pub(crate) ratio: f64,
    #[serde(default)]
    pub(crate) reason: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Preemption {
    pub(crate) time_ms: i64,
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
    pub(crate) time_ms: i64,
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

#[derive(Debug, Deserialize)]
pub(crate) struct Learned {
    pub(crate) time_ms: i64,
    pub(crate) application: String,
    pub(crate) profile: String,
    pub(crate) outcome: String,
    pub(crate) runs: usize,
}

impl Record {
    /// The application of the record; the end of a container names only the container.
    pub(crate) fn application(&self) -> Option<&str> {
        match self {
            Record::Placed(placed) => Some(&placed.application),
            Record::Refused(refused) => Some(&refused.application),
            Record::Learned(learned) => Some(&learned.application),
            Record::Reprovision(reprovision) => Some(&reprovision.application),
            Record::Preemption(preemption) => preemption.application.as_deref(),
            Record::Finished(_) | Record::Bookable(_) | Record::Other => None,
        }
    }
}
