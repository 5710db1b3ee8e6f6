//! A limit in 4 bytes.

/// Half of the width of an amount, as there are several for each container; NaN where there is no limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct MaybeLimit(f32);

impl MaybeLimit {
    pub(super) fn of(amount: Option<f64>) -> Self {
        Self(amount.map_or(f32::NAN, |amount| amount as f32))
    }

    pub(super) fn amount(self) -> Option<f32> {
        (!self.0.is_nan()).then_some(self.0)
    }
}

impl PartialEq for MaybeLimit {
    fn eq(&self, other: &Self) -> bool {
        self.amount() == other.amount()
    }
}
