//! What each system does at the events of a run.

use super::job::Kind;
use super::world::World;

/// Places tasks on machines.
pub(super) trait Scheduler {
    fn stage_ready(&mut self, world: &mut World<'_>, stage: u32);
    fn monotask_ended(&mut self, world: &mut World<'_>, task: u32, kind: Kind, machine: usize);
    fn round(&mut self, world: &mut World<'_>);
    /// Whether the next round could change anything.
    fn waits(&self) -> bool;
    fn round_s(&self) -> f64;
}
