//! The memory of a task.

/// Ursa (EuroSys 2020), section 4.2.1: `min(share · M, m2i · input)`, in bytes, with M the memory that
/// the job requested, `share` the task's fraction of the input of its stage, and m2i the memory per
/// byte of input.
///
/// 0 if a side is negative or not a number.
pub fn memory_estimate_bytes(
    share: f64,
    job_memory_bytes: f64,
    memory_to_input: f64,
    input_bytes: f64,
) -> f64 {
    let sides = [share * job_memory_bytes, memory_to_input * input_bytes];
    if sides.iter().any(|side| side.is_nan()) {
        return 0.0;
    }
    sides[0].min(sides[1]).clamp(0.0, f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_of_the_share_and_the_need_of_the_input() {
        assert_eq!(memory_estimate_bytes(0.1, 4e9, 2.0, 1e8), 2e8);
        assert_eq!(memory_estimate_bytes(0.1, 4e9, 8.0, 1e8), 4e8);
    }

    #[test]
    fn an_invalid_amount_counts_as_0() {
        assert_eq!(memory_estimate_bytes(f64::NAN, 4e9, 2.0, 1e8), 0.0);
        assert_eq!(memory_estimate_bytes(-1.0, 4e9, 2.0, 1e8), 0.0);
        assert_eq!(memory_estimate_bytes(f64::MAX, f64::MAX, f64::MAX, f64::MAX), f64::MAX);
    }
}
