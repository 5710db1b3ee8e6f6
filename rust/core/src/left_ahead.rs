//! What is left on a node from now on, in forms that two kinds of readers share.

use crate::amounts::Amounts;

/// Capacity less the demands on a node, in fixed point, from the slot of `now` on.
pub(crate) trait LeftAhead {
    fn capacity(&self) -> Amounts;

    /// Number of slots up to the last change.
    fn slots_ahead(&self) -> usize;

    /// Left in the slot `ahead` slots from now.
    fn slot(&self, ahead: usize) -> Amounts;

    /// Sum of the first `slots` slots.
    fn sum(&self, slots: usize) -> Amounts;

    /// The tolerance: amounts are rounded, so a need may exceed the amount left by this.
    fn tolerance(&self) -> Amounts {
        self.capacity().tolerance()
    }
}
