//! What a killed agent left, by its journal.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use super::{actuator::Actuator, groups::ContainerGroups};
use crate::{
    actuators::{LimitFile, Value, limits_of, read_limit},
    journal::{FormerFile, Journal},
};

/// Files of groups, with the values that they get back.
type Values = BTreeMap<PathBuf, Vec<(LimitFile, Value)>>;

/// Lifts the limits and removes the containers' groups. Their parents are left to [`ContainerGroups::release`], and JVMs to
/// [`super::heaps::restore_heaps`].
pub(super) fn put_back_left_behind(groups: &ContainerGroups, actuator: &mut Actuator) {
    let own = own_groups_left(groups, &actuator.journal);
    let lifted = own.iter().map(|group| {
        let limits = limits_of(group).into_iter();
        (group.clone(), limits.map(|(file, _)| (file, file.lifted())).collect())
    });
    let mut values: Values = lifted.collect();
    values.extend(former_values_left(actuator));
    for (group, values) in values {
        actuator.restore_values(&group, values);
    }
    if !own.is_empty() {
        actuator.leaving = own;
        log::info!("removing the groups of a killed agent");
        actuator.remove_leaving_now();
    }
    actuator.has_removed = true;
}

/// The groups that the agent made for containers. If the agent did not make the parent, YARN may use it too: then
/// only the groups in the journal are the agent's.
fn own_groups_left(groups: &ContainerGroups, journal: &Journal) -> BTreeSet<PathBuf> {
    let is_made = |group: &PathBuf| {
        let mut made = journal.made().iter();
        made.any(|made| Some(made.as_path()) == group.parent())
    };
    let present = groups.present().into_iter().filter(is_made);
    journal.own_groups().cloned().chain(present).collect()
}

/// The values of the container executor's files that still hold what the agent wrote. Forgets the others.
fn former_values_left(actuator: &mut Actuator) -> Values {
    let mut values = Values::new();
    let mut changed_since = Vec::new();
    for (group, former) in actuator.journal.all_former() {
        let FormerFile { file, value, .. } = *former;
        match read_limit(group, file) {
            Ok(shown) if !former.is_own(shown) => changed_since.push((group.to_owned(), file)),
            // A group that is gone has nothing to get back, which the write tells.
            _ => values.entry(group.to_owned()).or_default().push((file, value)),
        }
    }
    for (group, file) in changed_since {
        actuator.journaled(|journal| journal.forget_former(&group, file));
    }
    values
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::agent::actuator::bench::{Bench, MIB};

    #[test]
    fn what_others_wrote_to_an_executors_file_after_the_agent_was_killed_stays() {
        let mut bench = Bench::new();
        let group = bench.directory.path().join("container_1_1_1_1");
        fs::create_dir(&group).unwrap();
        let former = [LimitFile::MemoryMax, LimitFile::MemoryHigh]
            .map(|file| (file, Value::AtMost(800 * MIB)));
        let journal = &mut bench.actuator.journal;
        journal.remember_former(&group, former.to_vec()).unwrap();
        for (file, _) in former {
            journal.remember_written(&group, file, Value::AtMost(160 * MIB)).unwrap();
        }
        fs::write(group.join("memory.max"), (500 * MIB).to_string()).unwrap();
        fs::write(group.join("memory.high"), (160 * MIB).to_string()).unwrap();
        put_back_left_behind(&ContainerGroups::new(None, false), &mut bench.actuator);
        let shown = |file| read_limit(&group, file).unwrap();
        assert_eq!(shown(LimitFile::MemoryMax), Value::AtMost(500 * MIB));
        assert_eq!(shown(LimitFile::MemoryHigh), Value::AtMost(800 * MIB));
        assert_eq!(bench.actuator.journal.all_former().count(), 0);
    }
}
