//! One thing at another value, for the sensitivity runs.

/// Something at another value.
#[derive(Debug, Clone, Copy)]
pub struct Variation<Change> {
    /// What is changed.
    pub parameter: &'static str,
    /// To what.
    pub value: &'static str,
    /// How.
    pub change: Change,
}

pub(crate) const fn variation<Change>(
    parameter: &'static str,
    value: &'static str,
    change: Change,
) -> Variation<Change> {
    Variation {
        parameter,
        value,
        change,
    }
}
