//! Amounts of YARN's other resource types, such as GPUs.

/// Amounts of the resource types beside memory and virtual cores, in the ResourceManager's order. A
/// missing amount is 0. Elastane does not plan these types; CapacityScheduler reserves a node for an
/// application that lacks them there, so a round must not name one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Countables(Box<[u64]>);

impl Countables {
    /// These amounts.
    pub fn new(amounts: &[u64]) -> Self {
        let asked = amounts.iter().rposition(|amount| *amount > 0).map_or(0, |last| last + 1);
        Self(amounts[..asked].into())
    }

    /// Whether all amounts are 0.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `free` has each amount.
    pub fn fits_into(&self, free: &[u64]) -> bool {
        let mut free = free.iter();
        self.0.iter().all(|asked| *asked <= free.next().copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_amount_must_be_free() {
        let asked = Countables::new(&[1, 0, 2, 0]);
        assert!(asked.fits_into(&[1, 0, 2]));
        assert!(!asked.fits_into(&[1, 9, 1]));
        assert!(!asked.fits_into(&[1]), "a missing amount is 0");
        assert!(Countables::new(&[0, 0]).is_empty());
        assert!(Countables::default().fits_into(&[]));
    }
}
