//! What all parts of the agent work on.

use super::{actuator::Actuator, container::Containers, reader::Reader};
use crate::plan::Plan;

/// The containers of this host, what reads them, what changes them, and the plan that says how.
#[derive(Debug)]
pub(super) struct Host {
    pub containers: Containers,
    pub plan: Plan,
    pub reader: Reader,
    pub actuator: Actuator,
}
