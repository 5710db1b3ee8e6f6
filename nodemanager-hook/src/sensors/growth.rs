//! What a counter grew by from one reading to the next.

/// A total that only grows, but may be read too low for a moment: a process that has just been
/// reaped is already gone from the tree while its parent's total was read before.
#[derive(Debug, Default)]
pub struct Growth {
    base: Option<u64>,
    fallen: bool,
}

impl Growth {
    /// Of a counter that begins now: its first total is growth, too.
    pub fn from_zero() -> Self {
        Self {
            base: Some(0),
            fallen: false,
        }
    }

    /// The growth since the reading before; 0 for the first one and where the total fell.
    ///
    /// One fall keeps the base, so that what comes back is not counted twice. A second one in a
    /// row is a loss for good and becomes the new base.
    pub fn advance(&mut self, total: u64) -> u64 {
        let base = *self.base.get_or_insert(total);
        if total >= base || self.fallen {
            self.base = Some(total);
            self.fallen = false;
        } else {
            self.fallen = true;
        }
        total.saturating_sub(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growths(totals: &[u64]) -> Vec<u64> {
        let mut growth = Growth::default();
        totals.iter().map(|total| growth.advance(*total)).collect()
    }

    #[test]
    fn the_first_reading_is_the_base() {
        assert_eq!(growths(&[100, 130, 130, 135]), [0, 30, 0, 5]);
    }

    #[test]
    fn a_dip_of_one_reading_is_not_counted_twice() {
        assert_eq!(growths(&[100, 40, 110]), [0, 0, 10]);
    }

    #[test]
    fn a_fall_that_lasts_is_the_new_base() {
        assert_eq!(growths(&[100, 40, 45, 50]), [0, 0, 0, 5]);
    }
}
