//! Sums of each row's demand over its first slots, on nodes of one size.

use super::Row;
use crate::amounts::Amounts;
use crate::need::Need;

/// Sums are kept for every number of slots up to this one, and beyond it for eight numbers in each doubling.
const EVERY_SLOT_UP_TO: usize = 16;

/// Largest number of slots for which sums are kept, 51 minutes. Longer demands have only their total beyond it.
const SUMS_UP_TO: usize = 1_024;

/// One column of sums for each kept number of slots. A round reads one or two columns.
#[derive(Debug)]
pub(crate) struct DemandSums {
    columns: Vec<Column>,
    totals: Vec<Amounts>,
}

#[derive(Debug)]
struct Column {
    up_to: usize,
    rows: Vec<Amounts>,
}

impl DemandSums {
    pub(crate) fn new(rows: usize) -> Self {
        Self { columns: Vec::new(), totals: vec![Amounts::ZERO; rows] }
    }

    pub(crate) fn push(&mut self) {
        self.totals.push(Amounts::ZERO);
        for column in &mut self.columns {
            column.rows.push(Amounts::ZERO);
        }
    }

    pub(crate) fn swap_remove(&mut self, row: Row) {
        self.totals.swap_remove(row);
        for column in &mut self.columns {
            column.rows.swap_remove(row);
        }
    }

    pub(crate) fn compute(&mut self, row: Row, need: &Need<'_>) {
        let Some(life) = need.life() else {
            self.totals[row] = need.demanded(0);
            return;
        };
        self.keep_up_to(life);
        let mut demanded = Amounts::ZERO;
        let mut slot = 0;
        for column in &mut self.columns {
            let up_to = column.up_to.min(life);
            demanded = demanded.plus(need.demanded_in(slot, up_to));
            slot = up_to;
            column.rows[row] = demanded;
        }
        self.totals[row] = demanded.plus(need.demanded_in(slot, life));
    }

    fn keep_up_to(&mut self, life: usize) {
        loop {
            let up_to = self.columns.last().map_or(1, |last| next_kept(last.up_to));
            if up_to >= life || up_to > SUMS_UP_TO {
                return;
            }
            // All rows computed before are shorter, so their sums are their totals.
            let rows = self.totals.clone();
            self.columns.push(Column { up_to, rows });
        }
    }

    /// Total demand over life; the demand in each slot without an end.
    pub(crate) fn total(&self, row: Row) -> Amounts {
        self.totals[row]
    }

    /// The kept sums next to `slots`, for rows that live longer.
    pub(crate) fn around(&self, slots: usize) -> DemandSumsAround<'_> {
        let above = self.columns.partition_point(|column| column.up_to < slots);
        DemandSumsAround {
            below: above.checked_sub(1).and_then(|i| self.columns.get(i)),
            above: self.columns.get(above),
            totals: &self.totals,
            slots,
        }
    }
}

/// The kept sums below and above a number of slots.
pub(crate) struct DemandSumsAround<'a> {
    below: Option<&'a Column>,
    above: Option<&'a Column>,
    totals: &'a [Amounts],
    slots: usize,
}

impl DemandSumsAround<'_> {
    /// An upper bound of the row's demand up to these slots.
    #[inline]
    pub(crate) fn upper_bound(&self, row: Row) -> Amounts {
        self.above.map_or(self.totals, |above| &above.rows)[row]
    }

    /// The row's demand up to these slots.
    pub(crate) fn exact(&self, row: Row, need: &Need<'_>) -> Amounts {
        if let Some(above) = self.above
            && above.up_to == self.slots
        {
            return above.rows[row];
        }
        match self.below {
            Some(below) => below.rows[row].plus(need.demanded_in(below.up_to, self.slots)),
            None => need.demanded_in(0, self.slots),
        }
    }
}

/// The next larger number of slots for which sums are kept.
fn next_kept(up_to: usize) -> usize {
    let doublings = (up_to / EVERY_SLOT_UP_TO).checked_ilog2();
    up_to + doublings.map_or(1, |doublings| 2 << doublings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_an_eighth_apart_at_most() {
        let mut kept = vec![1];
        while kept.last().is_some_and(|last| *last < SUMS_UP_TO) {
            kept.extend(kept.last().copied().map(next_kept));
        }
        assert_eq!(kept[15..20], [16, 18, 20, 22, 24]);
        assert_eq!(kept.last(), Some(&SUMS_UP_TO));
        let close = |pair: &[usize]| pair[1] == pair[0] + 1 || pair[1] * 8 <= pair[0] * 9;
        assert!(kept.windows(2).all(close), "{kept:?}");
    }
}
