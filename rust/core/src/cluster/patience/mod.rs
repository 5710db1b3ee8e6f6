//! What waiting does: who starves passes, room and nodes are held for those that others keep waiting, and
//! who would be delayed waits for a better node.

mod held_room;
mod kept_node;
mod passing;
mod starvation;

pub(crate) use held_room::NextToStart;
pub use kept_node::KeptNode;
pub(crate) use kept_node::NodeKeeper;
pub(crate) use passing::{BetterNodes, Passing};
pub(crate) use starvation::{Admitted, Wait, admit};

#[cfg(test)]
pub(crate) use held_room::HeldRoom;
