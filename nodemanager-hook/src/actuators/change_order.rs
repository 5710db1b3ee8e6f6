//! The order of limit changes. No group is ever tighter than one of its descendants.

use std::{cmp::Reverse, io, path::Path};

use super::{Change, KernelFileError, LimitFile, Value};

pub trait LimitFiles {
    /// The value of a file, or None if the file cannot be read.
    fn held(&mut self, group: &Path, file: LimitFile) -> Option<Value>;

    /// Returns whether a write was needed.
    fn change(&mut self, change: &Change) -> Result<bool, KernelFileError>;
}

struct Failed<'a> {
    change: &'a Change,
    is_gone: bool,
    /// The value of the file after the failure.
    held: Option<Value>,
}

/// Makes all changes that leave no group tighter than a descendant. Returns the outcomes in the
/// order of `changes`.
pub fn write_in_order(
    files: &mut impl LimitFiles,
    changes: &[&Change],
) -> Vec<Result<bool, KernelFileError>> {
    let (loosened, tightened) = in_order(changes, |change| files.held(&change.group, change.file));
    let loosened = loosened.into_iter().map(|place| (place, false));
    let tightened = tightened.into_iter().map(|place| (place, true));
    let mut failed: Vec<Failed<'_>> = Vec::new();
    let mut outcomes = Vec::new();
    for (place, tightens) in loosened.chain(tightened) {
        let change = changes[place];
        let is_held_back = failed.iter().any(|failed| match tightens {
            true => failed.is_looser_inside(change),
            false => failed.is_tighter_around(change),
        });
        let outcome = match is_held_back {
            true => Err(held_back(change, tightens)),
            false => files.change(change),
        };
        if let Err(error) = &outcome {
            failed.push(Failed {
                change,
                is_gone: error.is_gone(),
                held: files.held(&change.group, change.file),
            });
        }
        outcomes.push((place, outcome));
    }
    outcomes.sort_unstable_by_key(|(place, _)| *place);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// The positions of the changes that loosen, outermost group first, and of those that tighten,
/// innermost group first. In this order no group is ever tighter than a descendant, provided that
/// none is before the first and after the last change.
fn in_order(
    changes: &[&Change],
    mut held: impl FnMut(&Change) -> Option<Value>,
) -> (Vec<usize>, Vec<usize>) {
    let depth = |place: &usize| changes[*place].group.components().count();
    let tightens = |place: &usize| {
        let change = changes[*place];
        let before = held(change);
        before.is_some_and(|before| before.is_looser_than(change.value))
    };
    let (mut tightened, mut loosened): (Vec<usize>, Vec<usize>) =
        (0..changes.len()).partition(tightens);
    // Both sorts are stable and keep the given order within a group.
    loosened.sort_by_cached_key(depth);
    tightened.sort_by_cached_key(|place| Reverse(depth(place)));
    (loosened, tightened)
}

fn held_back(change: &Change, tightens: bool) -> KernelFileError {
    let (action, reason) = match tightens {
        true => ("tighten", "a descendant could not be tightened"),
        false => ("loosen", "its parent could not be loosened"),
    };
    let path = change.group.join(change.file.name());
    KernelFileError::new(action, &path, io::Error::other(reason))
}

/// A file that cannot be read may hold any value.
impl Failed<'_> {
    /// Whether `outer` would make its group tighter than this descendant.
    fn is_looser_inside(&self, outer: &Change) -> bool {
        let is_looser = || match self.held {
            Some(held) => held.is_looser_than(outer.value),
            None => matches!(self.change.value, Value::AtMost(_)),
        };
        is_in(self.change, outer) && is_looser()
    }

    /// Whether `inner` would make its group looser than this ancestor.
    fn is_tighter_around(&self, inner: &Change) -> bool {
        let is_tighter = || match self.held {
            Some(held) => inner.value.is_looser_than(held),
            None => !matches!(inner.value, Value::Weight(_)),
        };
        // A removed group has no descendants left; their own changes fail.
        is_in(inner, self.change) && !self.is_gone && is_tighter()
    }
}

fn is_in(inner: &Change, outer: &Change) -> bool {
    let is_inside = inner.group != outer.group && inner.group.starts_with(&outer.group);
    is_inside && inner.file == outer.file
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::PathBuf};

    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::sensors::Device;

    const GROUPS: usize = 8;
    const DISK: Device = Device { major: 8, minor: 0 };
    const BOUNDS: [LimitFile; 8] = [
        LimitFile::CpuQuota,
        LimitFile::CpuMax,
        LimitFile::MemoryLimit,
        LimitFile::MemoryHigh,
        LimitFile::MemoryMax,
        LimitFile::WriteThrottle(DISK),
        LimitFile::IoMaxRead(DISK),
        LimitFile::IoMaxWrite(DISK),
    ];

    type Key = (PathBuf, LimitFile);

    /// Which accesses a file refuses.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Mood {
        Well,
        RefusesWrites,
        RefusesAll,
    }

    /// Files in the groups `/`, `/0`, `/0/1` and so on; each write is checked.
    #[derive(Debug, Default)]
    struct Recorded {
        held: BTreeMap<Key, Value>,
        moods: BTreeMap<Key, Mood>,
        /// Groups that were tighter than a descendant after a write.
        wrong: Vec<String>,
    }

    impl Recorded {
        fn mood(&self, key: &Key) -> Mood {
            self.moods.get(key).copied().unwrap_or(Mood::Well)
        }

        fn check(&mut self) {
            for ((group, file), value) in &self.held {
                let outer = group.parent().map(|outer| (outer.to_path_buf(), *file));
                let outer = outer.and_then(|outer| self.held.get(&outer));
                if outer.is_some_and(|outer| value.is_looser_than(*outer)) {
                    let group = group.display();
                    self.wrong.push(format!("{file:?}: {value:?} of {group} in {outer:?}"));
                }
            }
        }
    }

    impl LimitFiles for Recorded {
        fn held(&mut self, group: &Path, file: LimitFile) -> Option<Value> {
            let key = (group.to_path_buf(), file);
            let can_be_read = self.mood(&key) != Mood::RefusesAll;
            self.held.get(&key).copied().filter(|_| can_be_read)
        }

        fn change(&mut self, change: &Change) -> Result<bool, KernelFileError> {
            let key = (change.group.clone(), change.file);
            if self.mood(&key) != Mood::Well {
                let refused = io::Error::from(io::ErrorKind::PermissionDenied);
                return Err(KernelFileError::new("write to", &change.group, refused));
            }
            self.held.insert(key, change.value);
            self.check();
            Ok(true)
        }
    }

    fn group(index: usize) -> PathBuf {
        // A binary tree, so that groups have ancestors and siblings.
        match index {
            0 => PathBuf::from("/"),
            _ => group((index - 1) / 2).join(index.to_string()),
        }
    }

    /// Changes of one file, none looser than the parent's.
    fn changes(file: LimitFile, values: &[Value]) -> Vec<Change> {
        let mut bounds: Vec<Value> = Vec::new();
        let mut changes = Vec::new();
        for (index, value) in values.iter().enumerate() {
            let around = match index {
                0 => Value::Unlimited,
                _ => bounds[(index - 1) / 2],
            };
            let value = value.tighter(around);
            bounds.push(value);
            let group = group(index);
            changes.push(Change { group, file, value });
        }
        changes
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            3 => (0_u64..100).prop_map(Value::AtMost),
            1 => Just(Value::Unlimited),
        ]
    }

    fn mood() -> impl Strategy<Value = Mood> {
        prop_oneof![
            8 => Just(Mood::Well),
            2 => Just(Mood::RefusesWrites),
            1 => Just(Mood::RefusesAll),
        ]
    }

    /// Per file: the wanted values and the refusals of all groups.
    fn moment() -> impl Strategy<Value = Vec<(LimitFile, Vec<Value>, Vec<Mood>)>> {
        let of_a_file = |file| (Just(file), vec(value(), GROUPS), vec(mood(), GROUPS));
        BOUNDS.map(of_a_file).into_iter().collect::<Vec<_>>()
    }

    proptest! {
        #[test]
        fn no_group_is_ever_tighter_than_a_descendant(moments in vec(moment(), 1..6)) {
            let mut files = Recorded::default();
            for file in BOUNDS {
                let unlimited = (0..GROUPS).map(|index| ((group(index), file), Value::Unlimited));
                files.held.extend(unlimited);
            }
            for moment in moments {
                let mut all = Vec::new();
                files.moods.clear();
                for (file, values, moods) in moment {
                    all.extend(changes(file, &values));
                    let moods = moods.into_iter().enumerate();
                    files.moods.extend(moods.map(|(index, mood)| ((group(index), file), mood)));
                }
                let outcomes = write_in_order(&mut files, &all.iter().collect::<Vec<_>>());
                prop_assert!(files.wrong.is_empty(), "{:?}", files.wrong);
                for (change, outcome) in all.iter().zip(outcomes) {
                    let is_near = |key: &Key| {
                        let (group, file) = (&change.group, change.file);
                        file == key.1 && (group.starts_with(&key.0) || key.0.starts_with(group))
                    };
                    let key = (change.group.clone(), change.file);
                    let mut near = files.moods.iter().filter(|(key, _)| is_near(key));
                    match outcome {
                        Ok(_) => prop_assert_eq!(files.held[&key], change.value),
                        Err(_) => prop_assert!(near.any(|(_, mood)| *mood != Mood::Well)),
                    }
                }
            }
        }
    }

    /// Whether a group and its child got a value when the file of one of them refuses writes.
    fn outcomes(file: LimitFile, value: Value, before: Value, refuses: usize) -> [bool; 2] {
        let mut files = Recorded::default();
        for index in 0..2 {
            files.held.insert((group(index), file), before);
        }
        files.moods.insert((group(refuses), file), Mood::RefusesWrites);
        let changes = changes(file, &[value, value]);
        let outcomes = write_in_order(&mut files, &changes.iter().collect::<Vec<_>>());
        [outcomes[0].is_ok(), outcomes[1].is_ok()]
    }

    #[test]
    fn a_bound_depends_on_the_parents_and_a_weight_does_not() {
        let (tight, loose) = (Value::AtMost(1), Value::AtMost(2));
        for file in BOUNDS {
            assert_eq!(outcomes(file, loose, tight, 0), [false, false], "{file:?}");
            assert_eq!(outcomes(file, loose, tight, 1), [true, false], "{file:?}");
            assert_eq!(outcomes(file, tight, loose, 0), [false, true], "{file:?}");
            assert_eq!(outcomes(file, tight, loose, 1), [false, false], "{file:?}");
        }
        let (light, heavy) = (Value::Weight(1), Value::Weight(2));
        for file in [LimitFile::CpuShares, LimitFile::CpuWeight] {
            assert_eq!(outcomes(file, heavy, light, 0), [false, true], "{file:?}");
            assert_eq!(outcomes(file, light, heavy, 1), [true, false], "{file:?}");
        }
    }
}
