//! The sensitivity of the figures to parameters that the paper does not publish.

use super::parameters::IsparkParameters;
use crate::variation::{Variation, variation};

/// The first changes nothing.
pub const VARIATIONS: &[Variation<fn(&mut IsparkParameters)>] = &[
    variation("as it is", "", |_| ()),
    variation("γ", "0.4", |it| it.trigger = 0.4),
    variation("γ", "0.7", |it| it.trigger = 0.7),
    variation("load", "0.7", |it| it.load = 0.7),
    variation("load", "2", |it| it.load = 2.0),
    variation("serial part", "0", |it| it.serial_part = 0.0),
    variation("serial part", "0.5", |it| it.serial_part = 0.5),
    variation("use falls within", "5 %", |it| it.falls_within = 0.05),
    variation("use falls within", "20 %", |it| it.falls_within = 0.2),
];
