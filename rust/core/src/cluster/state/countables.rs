//! Amounts of YARN's other resource types, such as GPUs.

/// Amounts of the resource types beside memory and virtual cores, in the ResourceManager's order. A
/// missing amount is 0. Elastane does not plan these types; CapacityScheduler reserves a node for an
/// application that lacks them there, so a round names one only where the node may be reserved for it.
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

    /// The amounts, without zeros at the end.
    pub(crate) fn amounts(&self) -> &[u64] {
        &self.0
    }

    /// Whether `free` has each amount.
    pub fn fits_into(&self, free: &[u64]) -> bool {
        let mut free = free.iter();
        self.0.iter().all(|asked| *asked <= free.next().copied().unwrap_or(0))
    }
}

/// The amounts that rounds on one node were offered.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfferedCountables {
    latest: Vec<u64>,
    most: Vec<u64>,
}

impl OfferedCountables {
    /// A round is offered these free amounts.
    pub(crate) fn offer(&mut self, free: &[u64]) {
        self.latest.clear();
        self.latest.extend_from_slice(free);
        let length = self.most.len().max(free.len());
        self.most.resize(length, 0);
        for (most, free) in self.most.iter_mut().zip(free) {
            *most = (*most).max(*free);
        }
    }

    /// Whether the latest offer lacks an amount.
    pub(crate) fn lacks(&self, asked: &Countables) -> bool {
        !asked.fits_into(&self.latest)
    }

    /// Whether the node is known to have each amount in total. The largest amounts ever offered are a lower bound of
    /// the totals, which YARN does not tell the core.
    pub(crate) fn has(&self, asked: &Countables) -> bool {
        asked.fits_into(&self.most)
    }

    /// Whether the node is known to have some of each type, so that it may have each amount.
    pub(crate) fn may_have(&self, asked: &Countables) -> bool {
        let mut most = self.most.iter();
        asked.0.iter().all(|asked| most.next().is_some_and(|most| *most > 0) || *asked == 0)
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

    #[test]
    fn the_largest_offer_of_each_type_is_a_lower_bound_of_the_total() {
        let mut offered = OfferedCountables::default();
        offered.offer(&[2, 0]);
        offered.offer(&[1, 3]);
        let asked = Countables::new(&[2, 3]);
        assert!(offered.has(&asked) && offered.lacks(&asked));
        let more = Countables::new(&[3, 3]);
        assert!(!offered.has(&more) && offered.may_have(&more));
        assert!(!offered.may_have(&Countables::new(&[1, 1, 1])), "never offered");
    }
}
