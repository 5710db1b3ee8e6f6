//! Rules for applications that wait long: starvation, reservations, a kept node, and passing on a node.

mod kept_node;
mod passing;
mod reservation;
mod starvation;

pub use kept_node::KeptNode;
pub(crate) use kept_node::NodeKeeper;
pub(crate) use passing::{BetterNodes, Passing};
pub(crate) use reservation::ReservationContest;
pub(crate) use starvation::{Admitted, Wait, admit};

#[cfg(test)]
pub(crate) use reservation::Reservation;
