//! What a killed agent left, by its journal.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Instant,
};

use super::Agent;
use crate::{
    actuators::{LimitFile, Value, limits_of, read_limit},
    audit::Reason,
    journal::FormerFile,
};

/// Files of groups, with the values that they get back.
type Values = BTreeMap<PathBuf, Vec<(LimitFile, Value)>>;

impl Agent {
    pub(super) fn put_back_left_behind(&mut self) {
        let own = self.own_groups_left();
        let lifted = own.iter().map(|group| {
            let limits = limits_of(group).into_iter();
            (group.clone(), limits.map(|(file, _)| (file, file.lifted())).collect())
        });
        let mut values: Values = lifted.collect();
        values.extend(self.former_values_left());
        for (group, values) in values {
            self.actuator.restore_values(&group, values);
        }
        if !own.is_empty() {
            self.actuator.leaving = own;
            log::info!("removing the groups of a killed agent");
            self.actuator.remove_leaving_now();
        }
        self.actuator.has_removed = true;
        self.release_groups();
        self.restore_heaps(Some(Reason::LeftBehind), Instant::now());
    }

    /// The containers' groups of the agent's. A parent that the agent did not make may be YARN's too: there only the journal's
    /// groups are the agent's.
    fn own_groups_left(&self) -> BTreeSet<PathBuf> {
        let journal = &self.actuator.journal;
        let is_made = |group: &PathBuf| {
            let mut made = journal.made().iter();
            made.any(|made| Some(made.as_path()) == group.parent())
        };
        let present = self.own_groups.iter().flat_map(|own| own.present()).filter(is_made);
        journal.own_groups().cloned().chain(present).collect()
    }

    /// The values of the container executor's files that still hold what the agent wrote. Forgets the others.
    fn former_values_left(&mut self) -> Values {
        let mut values = Values::new();
        let mut changed_since = Vec::new();
        for (group, former) in self.actuator.journal.all_former() {
            let FormerFile { file, value, .. } = *former;
            match read_limit(group, file) {
                Ok(shown) if !former.is_own(shown) => changed_since.push((group.to_owned(), file)),
                // A group that is gone has nothing to get back, which the write tells.
                _ => values.entry(group.to_owned()).or_default().push((file, value)),
            }
        }
        for (group, file) in changed_since {
            self.actuator.journaled(|journal| journal.forget_former(&group, file));
        }
        values
    }
}
