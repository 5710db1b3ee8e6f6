//! What the `elastane` and `elastane-lab` commands share.

pub mod bar;
pub mod failure;
pub mod opened;
mod plot;
mod plot_svg;
pub mod profiles;
pub mod run_options;
pub mod series;
pub mod simulate;
pub mod units;
