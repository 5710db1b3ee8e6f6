//! How far the figures hang on what the paper leaves open.

use super::parameters::Parameters;

/// A parameter at another value.
#[derive(Debug, Clone, Copy)]
pub struct Variation {
    /// What is changed.
    pub parameter: &'static str,
    /// To what.
    pub value: &'static str,
    /// How.
    pub change: fn(&mut Parameters),
}

const fn variation(
    parameter: &'static str,
    value: &'static str,
    change: fn(&mut Parameters),
) -> Variation {
    Variation {
        parameter,
        value,
        change,
    }
}

/// The first changes nothing.
pub const VARIATIONS: &[Variation] = &[
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
