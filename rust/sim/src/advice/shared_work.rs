//! How long executors run that share the work of their application.

/// The common end of executors that work from `starts` on and do `work` together: `T` with `Σ max(0, T − s_k) = W`.
/// Of those that would start after it, none works.
pub(super) fn common_end(starts: &[f64], work: f64) -> f64 {
    let mut sorted = starts.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut sum = 0.0;
    let mut end = work;
    for (place, start) in sorted.iter().enumerate() {
        if place > 0 && *start >= end {
            break;
        }
        sum += start;
        end = (work + sum) / (place + 1) as f64;
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn together_they_do_the_work(
            starts in proptest::collection::vec(0.0..1_000.0_f64, 1..20),
            work in 1.0..5_000.0_f64,
        ) {
            let end = common_end(&starts, work);
            let done: f64 = starts.iter().map(|start| (end - start).max(0.0)).sum();
            prop_assert!((done - work).abs() < 1e-6 * work, "{done} of {work}");
        }
    }

    #[test]
    fn one_that_comes_when_all_is_done_does_not_count() {
        assert_eq!(common_end(&[0.0, 0.0], 20.0), 10.0);
        assert_eq!(common_end(&[0.0, 4.0], 20.0), 12.0);
        assert_eq!(common_end(&[0.0, 50.0], 20.0), 20.0);
    }
}
