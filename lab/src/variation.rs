//! One changed parameter of a sensitivity run.

/// A parameter at another value.
#[derive(Debug, Clone, Copy)]
pub struct Variation<Change> {
    /// The name in reports.
    pub parameter: &'static str,
    /// In words.
    pub value: &'static str,
    /// Sets the parameter.
    pub change: Change,
}

pub(crate) const fn variation<Change>(
    parameter: &'static str,
    value: &'static str,
    change: Change,
) -> Variation<Change> {
    Variation { parameter, value, change }
}
