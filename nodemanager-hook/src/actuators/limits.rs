//! The limits of one container as values of kernel files: a function for each resource and
//! version, which neither reads nor writes.

pub mod cpu;
pub mod disk;
pub mod memory;

use super::{LimitFile, Value};

/// A kernel file of a group, and what it is to hold. Where the order matters, settings stand in
/// the order in which they have to be written.
pub type Setting = (LimitFile, Value);
