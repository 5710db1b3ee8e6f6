//! The use of a container at one step in 16 bytes.

use elastane_core::Resources;

use super::Use;

/// One 16,384th of a core. With exponents up to 30 an amount reaches 268 million cores.
const CPU_UNIT: f32 = 1.0 / 16_384.0;
/// A page. With exponents up to 30 an amount reaches 18 PB.
const MEMORY_UNIT: f32 = 4_096.0;
/// Of network and disk. With exponents up to 30 an amount reaches 4 PB/s.
const FLOW_UNIT: f32 = 1_024.0;

/// The bits of the significand after the first one, which is not stored.
const SIGNIFICAND_BITS: u32 = 11;
const FIRST_BIT: u64 = 1 << SIGNIFICAND_BITS;

/// CPU, memory, network and disk that were used, and then planned, as floating-point numbers of 16 bits: whole units up
/// to 4,096 of them, and above that a relative error of at most 2⁻¹².
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PackedUse([[u16; 4]; 2]);

impl PackedUse {
    /// At a step at which the container was not measured.
    pub(super) const NONE: Self = Self([[u16::MAX; 4]; 2]);

    pub(super) fn of(step: Use) -> Self {
        Self([packed_amounts(step.used), packed_amounts(step.planned)])
    }

    pub(super) fn unpacked(self) -> Option<Use> {
        let Self([used, planned]) = self;
        (self != Self::NONE)
            .then(|| Use { used: unpacked_amounts(used), planned: unpacked_amounts(planned) })
    }
}

fn packed_amounts(amounts: Resources) -> [u16; 4] {
    [
        packed(amounts.cpu_cores as f32 / CPU_UNIT),
        packed(amounts.memory_bytes as f32 / MEMORY_UNIT),
        packed(amounts.network_bytes_per_s as f32 / FLOW_UNIT),
        packed(amounts.disk_bytes_per_s as f32 / FLOW_UNIT),
    ]
}

fn unpacked_amounts([cores, bytes, network, disk]: [u16; 4]) -> Resources {
    Resources {
        cpu_cores: (unpacked(cores) * CPU_UNIT).into(),
        memory_bytes: (unpacked(bytes) * MEMORY_UNIT).into(),
        network_bytes_per_s: (unpacked(network) * FLOW_UNIT).into(),
        disk_bytes_per_s: (unpacked(disk) * FLOW_UNIT).into(),
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
        fn no_amount_is_taken_for_none(
            used in prop::array::uniform4(any::<f64>()),
            planned in prop::array::uniform4(any::<f64>()),
        ) {
            let step = Use { used: amounts(used), planned: amounts(planned) };
            prop_assert!(PackedUse::of(step).unpacked().is_some());
        }
    }

    fn amounts(
        [cpu_cores, memory_bytes, network_bytes_per_s, disk_bytes_per_s]: [f64; 4],
    ) -> Resources {
        Resources { cpu_cores, memory_bytes, network_bytes_per_s, disk_bytes_per_s }
    }

    #[test]
    fn no_extreme_amount_is_taken_for_none() {
        for amount in [f64::MAX, f64::INFINITY, f64::NAN, f64::MIN, f64::NEG_INFINITY] {
            let step = Use { used: amounts([amount; 4]), planned: amounts([amount; 4]) };
            assert!(PackedUse::of(step).unpacked().is_some(), "{amount}");
        }
    }

    #[test]
    fn each_resource_is_kept_in_its_place() {
        let step = Use {
            used: amounts([0.5, 8_192.0, 1_048_576.0, 3_072.0]),
            planned: amounts([2.0, 4_096.0, 2_048.0, 5_120.0]),
        };
        assert_eq!(PackedUse::of(step).unpacked(), Some(step));
    }

    #[test]
    fn numbers_of_few_bits_are_exact() {
        for units in [0.0, 1.0, 4_095.0, 4_096.0, 16_384.0, 1.5 * 16_384.0, 262_144.0] {
            assert_eq!(unpacked(packed(units)), units);
        }
    }
}
