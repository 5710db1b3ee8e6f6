//! The use of a container at one step in 8 bytes.

use super::Use;

/// One 16,384th of a core. With exponents up to 30 an amount reaches 268 million cores.
const CPU_UNIT: f32 = 1.0 / 16_384.0;
/// A page. With exponents up to 30 an amount reaches 18 PB.
const MEMORY_UNIT: f32 = 4_096.0;

/// The bits of the significand after the first one, which is not stored.
const SIGNIFICAND_BITS: u32 = 11;
const FIRST_BIT: u64 = 1 << SIGNIFICAND_BITS;

/// CPU, memory, planned CPU and planned memory as floating-point numbers of 16 bits: whole units up to 4,096 of them,
/// and above that a relative error of at most 2⁻¹².
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PackedUse([u16; 4]);

impl PackedUse {
    /// At a step at which the container was not measured.
    pub(super) const NONE: Self = Self([u16::MAX; 4]);

    pub(super) fn of(used: Use) -> Self {
        let [planned_cores, planned_bytes] = used.planned;
        Self([
            packed(used.cpu_cores / CPU_UNIT),
            packed(used.memory_bytes / MEMORY_UNIT),
            packed(planned_cores / CPU_UNIT),
            packed(planned_bytes / MEMORY_UNIT),
        ])
    }

    pub(super) fn used(self) -> Option<Use> {
        let Self([cores, bytes, planned_cores, planned_bytes]) = self;
        (self != Self::NONE).then(|| Use {
            cpu_cores: unpacked(cores) * CPU_UNIT,
            memory_bytes: unpacked(bytes) * MEMORY_UNIT,
            planned: [unpacked(planned_cores) * CPU_UNIT, unpacked(planned_bytes) * MEMORY_UNIT],
        })
    }
}

/// To the nearest. A negative amount and NaN become 0, and one above the range the largest.
fn packed(units: f32) -> u16 {
    let is_whole = units < (2 * FIRST_BIT) as f32;
    let units = if is_whole { units.round() } else { units } as u64;
    let exponent = (u64::BITS - units.leading_zeros()).saturating_sub(SIGNIFICAND_BITS + 1);
    let half = (1_u64 << exponent) >> 1;
    // A significand that is rounded up to the next power of 2 carries into the exponent.
    let packed =
        (u64::from(exponent) << SIGNIFICAND_BITS) + (units.saturating_add(half) >> exponent);
    u16::try_from(packed).unwrap_or(u16::MAX).min(u16::MAX - 1)
}

fn unpacked(packed: u16) -> f32 {
    let packed = u64::from(packed);
    match (packed >> SIGNIFICAND_BITS).checked_sub(1) {
        None => packed as f32,
        Some(exponent) => ((packed % FIRST_BIT + FIRST_BIT) << exponent) as f32,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_amount_is_kept_to_a_unit_and_to_one_part_in_4096(
            units in prop_oneof![0.0_f32..10_000.0, 0.0_f32..4e12],
        ) {
            let error = (unpacked(packed(units)) - units).abs();
            prop_assert!(error <= 0.5 || error <= units / 4_096.0, "{units} {error}");
        }

        #[test]
        fn no_amount_is_taken_for_none(amounts in prop::array::uniform4(any::<f32>())) {
            let [cpu_cores, memory_bytes, planned @ ..] = amounts;
            let used = Use { cpu_cores, memory_bytes, planned };
            prop_assert!(PackedUse::of(used).used().is_some());
        }
    }

    #[test]
    fn no_extreme_amount_is_taken_for_none() {
        for amount in [f32::MAX, f32::INFINITY, f32::NAN, f32::MIN, f32::NEG_INFINITY] {
            let used = Use { cpu_cores: amount, memory_bytes: amount, planned: [amount; 2] };
            assert!(PackedUse::of(used).used().is_some(), "{amount}");
        }
    }

    #[test]
    fn numbers_of_few_bits_are_exact() {
        for units in [0.0, 1.0, 4_095.0, 4_096.0, 16_384.0, 1.5 * 16_384.0, 262_144.0] {
            assert_eq!(unpacked(packed(units)), units);
        }
    }
}
