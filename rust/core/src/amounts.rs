//! Amounts in fixed point. Subtracting an amount undoes its addition exactly, and the order of
//! additions does not matter.

use crate::resources::{Resource, Resources};

/// Nano-cores, bytes, and bytes per second, in the order of [`Resource::ALL`]; rounded down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Amounts([i64; 4]);

/// Fixed-point units in one unit of [`Resources`].
const UNITS: [f64; 4] = [1e9, 1.0, 1.0, 1.0];

/// Largest amount of one demand or node: 70,000 cores, 70 TB, 70 TB/s. Sums over the executors of a
/// node and over a day of slots stay within 64 bits.
const LARGEST: i64 = 1 << 46;

/// Inverse of the tolerance, which is a fraction of the capacity.
const TOLERANCE_PER: i64 = 1_000_000_000;

impl Amounts {
    pub(crate) const ZERO: Amounts = Amounts([0; 4]);

    /// Rounded down. NaN becomes 0, and a larger amount than any node's is cut off.
    pub(crate) fn rounded_down(resources: Resources) -> Self {
        let amounts = resources.to_array();
        Self(std::array::from_fn(|i| fixed(amounts[i], i)))
    }

    /// One resource alone, as [`Amounts::rounded_down`] rounds it.
    pub(crate) fn rounded_down_of(resource: Resource, amount: f64) -> i64 {
        fixed(amount, resource as usize)
    }

    /// A part of each amount, rounded down.
    pub(crate) fn scaled(self, part: f64) -> Self {
        Self(self.0.map(|amount| (amount as f64 * part) as i64))
    }

    pub(crate) const fn to_array(self) -> [i64; 4] {
        self.0
    }

    pub(crate) const fn get(self, resource: Resource) -> i64 {
        self.0[resource as usize]
    }

    /// In the units of [`Resources`].
    pub(crate) fn in_units(self, resource: Resource) -> f64 {
        self.get(resource) as f64 / UNITS[resource as usize]
    }

    pub(crate) fn zip(self, other: Self, f: impl Fn(i64, i64) -> i64) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    /// The sum, saturating.
    pub(crate) fn plus(self, other: Self) -> Self {
        self.zip(other, i64::saturating_add)
    }

    /// The difference, saturating.
    pub(crate) fn minus(self, other: Self) -> Self {
        self.zip(other, i64::saturating_sub)
    }

    /// The sum, wrapping: [`Amounts::wrapping_minus`] undoes it whatever the amounts.
    pub(crate) fn wrapping_plus(self, other: Self) -> Self {
        self.zip(other, i64::wrapping_add)
    }

    /// The difference, wrapping.
    pub(crate) fn wrapping_minus(self, other: Self) -> Self {
        self.zip(other, i64::wrapping_sub)
    }

    /// Whether every amount lies between `-limit` and `limit`.
    pub(crate) fn is_within(self, limit: i64) -> bool {
        self.0.into_iter().all(|amount| (-limit..=limit).contains(&amount))
    }

    /// A bit mask of the known resources, whose capacity is above 0.
    pub(crate) fn known_mask(self) -> Self {
        Self(self.0.map(|capacity| -i64::from(capacity > 0)))
    }

    /// 0 for each resource that is not in the mask; a comparison for each slot would cost more.
    pub(crate) fn masked_by(self, known: Self) -> Self {
        self.zip(known, |amount, bits| amount & bits)
    }

    pub(crate) fn times(self, factor: i64) -> Self {
        self.zip(Self([factor; 4]), i64::saturating_mul)
    }

    pub(crate) fn min(self, other: Self) -> Self {
        self.zip(other, i64::min)
    }

    pub(crate) fn max(self, other: Self) -> Self {
        self.zip(other, i64::max)
    }

    /// The tolerance of a fit on a node of this capacity.
    pub(crate) fn tolerance(self) -> Self {
        Self(self.0.map(|capacity| capacity / TOLERANCE_PER))
    }

    /// The given number of tenths of each amount.
    pub(crate) fn tenths(self, tenths: [i64; 4]) -> Self {
        self.zip(Self(tenths), |amount, tenths| amount * tenths / 10)
    }

    /// With at least this much memory.
    pub(crate) fn with_memory_floor(mut self, memory_bytes: i64) -> Self {
        let memory = &mut self.0[Resource::Memory as usize];
        *memory = (*memory).max(memory_bytes);
        self
    }
}

/// From here on a double has no fraction, and its lowest bits count up by one.
const WHOLE_FROM: f64 = (1_u64 << 52) as f64;

/// Rounds down, between 0 and [`LARGEST`]. A plain conversion is the same, but there is no vector instruction for it,
/// and every slot of a container's demand is converted when the container starts.
#[inline]
fn fixed(amount: f64, resource: usize) -> i64 {
    let amount = amount * UNITS[resource];
    // NaN fails the first comparison.
    let amount = if amount > 0.0 { amount } else { 0.0 };
    let amount = if amount < LARGEST as f64 { amount } else { LARGEST as f64 };
    let nearest = (amount + WHOLE_FROM) - WHOLE_FROM;
    let below = if nearest > amount { nearest - 1.0 } else { nearest };
    ((below + WHOLE_FROM).to_bits() - WHOLE_FROM.to_bits()) as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn amounts_are_rounded_as_a_plain_conversion_rounds_them(
            amount in prop_oneof![any::<f64>(), -2.0_f64..2.0, 0.0_f64..1e15],
            near in 0_i64..LARGEST,
            beside in -1e-3_f64..1e-3,
        ) {
            for amount in [amount, near as f64, near as f64 + beside, near as f64 + 0.5] {
                for (resource, unit) in UNITS.into_iter().enumerate() {
                    let plain = ((amount * unit) as i64).clamp(0, LARGEST);
                    prop_assert_eq!(fixed(amount, resource), plain, "{} {}", amount, resource);
                }
            }
        }
    }

    #[test]
    fn amounts_are_rounded_down_to_nano_cores_and_bytes() {
        let amounts = Amounts::rounded_down(Resources::from_array([0.1, 1.9, 2.0, 0.0]));
        assert_eq!(amounts, Amounts([100_000_000, 1, 2, 0]));
    }

    #[test]
    fn every_amount_is_accepted_and_none_overflows() {
        let odd = Resources::from_array([f64::NAN, f64::INFINITY, -1.0, 1e300]);
        assert_eq!(Amounts::rounded_down(odd), Amounts([0, LARGEST, 0, LARGEST]));
        let before = Amounts([i64::MAX; 4]);
        let added = Amounts([LARGEST; 4]);
        assert_eq!(before.wrapping_plus(added).wrapping_minus(added), before);
    }
}
