//! The entries of the journal, and the edits of which its file consists.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::NetworkMade;
use crate::{
    actuators::{LimitFile, Value},
    container_id::ContainerId,
    jvm::Former,
    sensors::ProcessKey,
};

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    Made(PathBuf),
    NotMade(PathBuf),
    Origin { group: PathBuf, origin: PathBuf },
    NoOrigin(PathBuf),
    FormerValue { group: PathBuf, file: LimitFile, value: Value },
    Written { group: PathBuf, file: LimitFile, value: Value },
    NoFormerValue { group: PathBuf, file: LimitFile },
    NoFormerValues(PathBuf),
    PassedOn { group: PathBuf, controller: String },
    NotPassedOn { group: PathBuf, controller: String },
    Jvm { container: ContainerId, former: Former },
    NoJvm { pid: u32, start_ticks: u64 },
    Network(NetworkMade),
}

/// A limit file in a group that the agent did not make.
#[derive(Debug, Clone, PartialEq)]
pub struct FormerFile {
    pub file: LimitFile,
    /// Before the first limit.
    pub value: Value,
    /// The agent's newest value, and two earlier ones that the file may still get or have: the newest may not have been
    /// written, and a thread may still write another one.
    written: [Option<Value>; 3],
}

#[derive(Debug, Default, PartialEq)]
pub struct Entries {
    /// Ancestors of the containers' groups that the agent made, outermost first.
    pub made: Vec<PathBuf>,
    /// The group that the processes of an own group came from.
    pub origins: BTreeMap<PathBuf, PathBuf>,
    pub former_values: BTreeMap<PathBuf, Vec<FormerFile>>,
    /// Version 2: groups and the controllers that the agent enabled for their children, outermost
    /// first.
    pub passed_on: Vec<(PathBuf, String)>,
    /// JVMs with their container and their flags before the first wish.
    pub jvms: Vec<(ContainerId, Former)>,
    pub network: NetworkMade,
}

impl Edit {
    /// Whether the edit is of something to undo, and not of something undone.
    pub fn remembers(&self) -> bool {
        match self {
            Self::Made(_)
            | Self::Origin { .. }
            | Self::FormerValue { .. }
            | Self::Written { .. }
            | Self::PassedOn { .. }
            | Self::Jvm { .. } => true,
            Self::Network(made) => *made != NetworkMade::default(),
            Self::NotMade(_)
            | Self::NoOrigin(_)
            | Self::NoFormerValue { .. }
            | Self::NoFormerValues(_)
            | Self::NotPassedOn { .. }
            | Self::NoJvm { .. } => false,
        }
    }
}

impl FormerFile {
    pub fn is_newest(&self, value: Value) -> bool {
        self.written[0] == Some(value)
    }

    /// Whether a value that the file shows is one that the agent wrote.
    pub fn is_own(&self, shown: Value) -> bool {
        self.written.into_iter().flatten().any(|written| self.file.shows_as(written, shown))
    }
}

impl Entries {
    /// The file in a group that the agent did not make.
    pub fn former(&self, group: &Path, file: LimitFile) -> Option<&FormerFile> {
        self.former_values.get(group)?.iter().find(|known| known.file == file)
    }

    /// Whether an edit would change anything.
    pub fn changes_by(&self, edit: &Edit) -> bool {
        match edit {
            Edit::Made(_) | Edit::PassedOn { .. } | Edit::Jvm { .. } => true,
            Edit::NotMade(group) => self.made.contains(group),
            Edit::Origin { group, origin } => self.origins.get(group) != Some(origin),
            Edit::NoOrigin(group) => self.origins.contains_key(group),
            Edit::FormerValue { group, file, .. } => self.former(group, *file).is_none(),
            Edit::Written { group, file, value } => {
                self.former(group, *file).is_some_and(|known| !known.is_newest(*value))
            }
            Edit::NoFormerValue { group, file } => self.former(group, *file).is_some(),
            Edit::NoFormerValues(group) => self.former_values.contains_key(group),
            Edit::NotPassedOn { group, controller } => {
                self.passed_on.iter().any(|(known, name)| known == group && name == controller)
            }
            Edit::NoJvm { pid, start_ticks } => {
                let key = ProcessKey { pid: *pid, start_ticks: *start_ticks };
                self.jvms.iter().any(|(_, former)| former.key() == key)
            }
            Edit::Network(made) => self.network != *made,
        }
    }

    pub fn apply(&mut self, edit: Edit) {
        match edit {
            Edit::Made(group) => self.made.push(group),
            Edit::NotMade(group) => self.made.retain(|made| *made != group),
            Edit::Origin { group, origin } => drop(self.origins.insert(group, origin)),
            Edit::NoOrigin(group) => drop(self.origins.remove(&group)),
            Edit::FormerValue { group, file, value } => {
                let known = self.former_values.entry(group).or_default();
                known.push(FormerFile { file, value, written: [None; 3] });
            }
            Edit::Written { group, file, value } => {
                let known = self.former_values.get_mut(&group).into_iter().flatten();
                for known in known.filter(|known| known.file == file) {
                    known.written = [Some(value), known.written[0], known.written[1]];
                }
            }
            Edit::NoFormerValue { group, file } => {
                if let Some(known) = self.former_values.get_mut(&group) {
                    known.retain(|known| known.file != file);
                }
                self.former_values.retain(|_, known| !known.is_empty());
            }
            Edit::NoFormerValues(group) => drop(self.former_values.remove(&group)),
            Edit::PassedOn { group, controller } => self.passed_on.push((group, controller)),
            Edit::NotPassedOn { group, controller } => {
                self.passed_on.retain(|(known, name)| *known != group || *name != controller);
            }
            Edit::Jvm { container, former } => self.jvms.push((container, former)),
            Edit::NoJvm { pid, start_ticks } => {
                let key = ProcessKey { pid, start_ticks };
                self.jvms.retain(|(_, former)| former.key() != key);
            }
            Edit::Network(made) => self.network = made,
        }
    }

    /// The most lines that [`Self::edits`] have.
    pub fn most_lines(&self) -> usize {
        let values: usize = self.former_values.values().map(Vec::len).sum();
        let groups = self.made.len() + self.origins.len() + self.passed_on.len();
        groups + 4 * values + self.jvms.len() + 1
    }

    /// The edits that make these entries from none.
    pub fn edits(&self) -> Vec<Edit> {
        let mut edits: Vec<Edit> = self.made.iter().cloned().map(Edit::Made).collect();
        for (group, origin) in &self.origins {
            edits.push(Edit::Origin { group: group.clone(), origin: origin.clone() });
        }
        for (group, known) in &self.former_values {
            for FormerFile { file, value, written } in known {
                let (group, file) = (group.clone(), *file);
                edits.push(Edit::FormerValue { group: group.clone(), file, value: *value });
                let oldest_first = written.iter().rev().flatten();
                let written = oldest_first.map(|value| Edit::Written {
                    group: group.clone(),
                    file,
                    value: *value,
                });
                edits.extend(written);
            }
        }
        for (group, controller) in &self.passed_on {
            edits.push(Edit::PassedOn { group: group.clone(), controller: controller.clone() });
        }
        for (container, former) in &self.jvms {
            edits.push(Edit::Jvm { container: container.clone(), former: former.clone() });
        }
        if self.network != NetworkMade::default() {
            edits.push(Edit::Network(self.network.clone()));
        }
        edits
    }
}
