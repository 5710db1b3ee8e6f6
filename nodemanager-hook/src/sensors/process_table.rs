//! One scan of all processes, and the tree of each container in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use super::proc_fs::ProcFs;

/// What one scan says about one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub session: u32,
    /// Since boot; tells a process from a later one with the same pid.
    pub start_ticks: u64,
    /// Its own time and that of the children it has reaped.
    pub cpu_nanoseconds: u64,
}

/// A process that no later one can be taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessKey {
    pub pid: u32,
    pub start_ticks: u64,
}

/// All processes of one moment.
#[derive(Debug, Default)]
pub struct ProcessTable {
    processes: BTreeMap<u32, Process>,
    children: BTreeMap<u32, Vec<u32>>,
}

impl Process {
    pub fn key(&self) -> ProcessKey {
        ProcessKey {
            pid: self.pid,
            start_ticks: self.start_ticks,
        }
    }
}

impl ProcessTable {
    /// Reads all processes.
    ///
    /// # Errors
    /// Those of reading `/proc`; processes that end meanwhile are left out.
    pub fn scan(proc: &ProcFs) -> io::Result<Self> {
        let mut table = Self::default();
        for pid in proc.pids()? {
            let process = match proc.process(pid) {
                // With hidepid an agent without root sees its own user's processes only.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
                other => other?,
            };
            if let Some(process) = process {
                table.children.entry(process.parent).or_default().push(pid);
                table.processes.insert(pid, process);
            }
        }
        Ok(table)
    }

    /// The process with this pid.
    pub fn get(&self, pid: u32) -> Option<&Process> {
        self.processes.get(&pid)
    }

    /// A process and everything above it.
    pub fn ancestors(&self, pid: u32) -> Vec<u32> {
        let mut line = vec![pid];
        let mut above = self.get(pid).map(|process| process.parent);
        while let Some(parent) = above.filter(|parent| *parent > 0 && !line.contains(parent)) {
            line.push(parent);
            above = self.get(parent).map(|process| process.parent);
        }
        line
    }

    /// The tree of a container, by pid.
    ///
    /// It holds what descends from `root`, what is in the session that `root` leads, and what
    /// descends from `known` members: children whose parent has ended are adopted by init and
    /// would be lost otherwise.
    pub fn tree(&self, root: ProcessKey, known: &BTreeSet<ProcessKey>) -> Vec<&Process> {
        // A pid that was given anew leads a session of somebody else.
        let reused = self
            .get(root.pid)
            .is_some_and(|process| process.key() != root);
        let is_seed = |process: &&Process| {
            let key = process.key();
            key == root || known.contains(&key) || (!reused && process.session == root.pid)
        };
        let mut members: BTreeMap<u32, &Process> = BTreeMap::new();
        let mut waiting: Vec<&Process> = self.processes.values().filter(is_seed).collect();
        while let Some(process) = waiting.pop() {
            if members.insert(process.pid, process).is_none() {
                let children = self.children.get(&process.pid).into_iter().flatten();
                waiting.extend(children.filter_map(|child| self.processes.get(child)));
            }
        }
        members.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(u32, u32, u32, u64)]) -> ProcessTable {
        let directory = tempfile::tempdir().unwrap();
        for (pid, parent, session, start) in rows {
            let files = directory.path().join(pid.to_string());
            std::fs::create_dir(&files).unwrap();
            let stat = format!(
                "{pid} (sh) S {parent} {pid} {session} 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 {start} 0"
            );
            std::fs::write(files.join("stat"), stat).unwrap();
        }
        std::fs::create_dir(directory.path().join("sys")).unwrap();
        ProcessTable::scan(&ProcFs::new(directory.path())).unwrap()
    }

    fn key(pid: u32, start_ticks: u64) -> ProcessKey {
        ProcessKey { pid, start_ticks }
    }

    fn pids(tree: &[&Process]) -> Vec<u32> {
        tree.iter().map(|process| process.pid).collect()
    }

    #[test]
    fn a_tree_is_the_descendants_of_its_root() {
        let table = table(&[
            (1, 0, 1, 1),
            (10, 1, 1, 5),
            (11, 10, 1, 6),
            (12, 11, 1, 7),
            (20, 1, 1, 5),
        ]);
        let tree = table.tree(key(10, 5), &BTreeSet::new());
        assert_eq!(pids(&tree), [10, 11, 12]);
    }

    #[test]
    fn an_orphan_stays_in_the_tree_by_its_session_or_because_it_is_known() {
        let table = table(&[
            (1, 0, 1, 1),
            (10, 1, 10, 5),
            (11, 1, 10, 6),
            (12, 1, 12, 7),
            (13, 12, 12, 8),
        ]);
        let tree = table.tree(key(10, 5), &BTreeSet::new());
        assert_eq!(pids(&tree), [10, 11]);
        let tree = table.tree(key(10, 5), &BTreeSet::from([key(12, 7)]));
        assert_eq!(pids(&tree), [10, 11, 12, 13]);
    }

    #[test]
    fn a_pid_that_was_given_anew_is_not_the_container() {
        let table = table(&[
            (1, 0, 1, 1),
            (10, 1, 10, 99),
            (11, 10, 10, 100),
            (12, 1, 12, 100),
        ]);
        let known = BTreeSet::from([key(12, 7)]);
        assert!(table.tree(key(10, 5), &known).is_empty());
    }

    #[test]
    fn ancestors_reach_up_to_init() {
        let table = table(&[(1, 0, 1, 1), (10, 1, 10, 5), (11, 10, 10, 6)]);
        assert_eq!(table.ancestors(11), [11, 10, 1]);
    }
}
