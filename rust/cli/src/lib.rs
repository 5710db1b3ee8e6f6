//! What the `elastane` and `elastane-lab` commands share.

pub mod bar;
pub mod failure;
pub mod run_options;
pub mod simulate;
pub mod units;
