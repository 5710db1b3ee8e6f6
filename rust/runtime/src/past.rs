//! What happened while a mode is `advise`, for a replay: who asked for what, when it started and ended, and what it
//! used.

mod asked;
mod cluster;
mod record;
mod snapshot;

use crate::runs::Runs;
use crate::settings::ServiceSettings;
use crate::starts::Starts;
pub use cluster::{PastApplication, PastCluster, PastContainer, PastNode};
pub(crate) use record::Past;
pub(crate) use snapshot::PastSnapshot;

/// What a service keeps of applications.
pub(crate) struct KeptOfApplications<'a> {
    pub(crate) past: &'a Past,
    pub(crate) starts: &'a Starts,
    pub(crate) runs: &'a Runs,
    pub(crate) settings: &'a ServiceSettings,
}
