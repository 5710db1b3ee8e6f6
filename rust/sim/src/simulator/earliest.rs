//! Before which slot nothing of a kind fits a node, as far as was looked. It holds until something
//! starts or ends on the node, so that a node is not looked at again for each kind whenever another
//! one begins to wait.

/// Nothing of the kind fits before something starts or ends on the node.
pub(super) const NEVER: u32 = u32::MAX;

/// For each node and kind a slot, counted from the start of the run.
pub(super) struct Earliest {
    kinds: usize,
    slots: Vec<u32>,
}

impl Earliest {
    pub(super) fn new(nodes: usize, kinds: usize) -> Self {
        Self {
            kinds,
            slots: vec![0; nodes * kinds],
        }
    }

    /// Something starts or ends on a node.
    pub(super) fn forget(&mut self, node: usize) {
        self.of_mut(node).fill(0);
    }

    /// By the number of the kind; 0 where nobody looked.
    pub(super) fn of_mut(&mut self, node: usize) -> &mut [u32] {
        &mut self.slots[node * self.kinds..][..self.kinds]
    }
}
