//! For each node and kind, the slot before which no container of the kind fits the node. It holds until an
//! executor starts or ends there, so that the search is not repeated whenever a kind begins to wait.

/// No container of the kind fits before an executor starts or ends on the node.
pub(super) const NEVER: u32 = u32::MAX;

/// For each node and kind a slot, counted from the start of the run.
pub(super) struct Earliest {
    kinds: usize,
    slots: Vec<u32>,
}

impl Earliest {
    pub(super) fn new(nodes: usize, kinds: usize) -> Self {
        Self { kinds, slots: vec![0; nodes * kinds] }
    }

    /// An executor starts or ends on a node.
    pub(super) fn forget(&mut self, node: usize) {
        self.of_mut(node).fill(0);
    }

    /// By the number of the kind; 0 where no search was made.
    pub(super) fn of_mut(&mut self, node: usize) -> &mut [u32] {
        &mut self.slots[node * self.kinds..][..self.kinds]
    }
}
