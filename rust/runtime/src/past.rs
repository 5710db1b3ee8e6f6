//! What happened while a mode is `advise`, for a replay: who asked for what, when it started and ended, and what it
//! used.

mod asked;
mod cluster;
mod record;
mod snapshot;

pub use cluster::{PastApplication, PastCluster, PastContainer, PastNode};
pub(crate) use record::Past;
pub(crate) use snapshot::PastSnapshot;
