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
    /// A thread of the kernel, without a program.
    pub is_kernel_thread: bool,
    /// Its own time and that of the children it has reaped.
    pub cpu_nanoseconds: u64,
}

/// A process that no later one can be taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessKey {
    pub pid: u32,
    pub start_ticks: u64,
}

/// Threads of the kernel, by pid, each with the inode that it had in `/proc`. There are many of
/// them, nothing about them changes, and so they are read once.
#[derive(Debug, Default)]
pub struct KernelThreads(BTreeMap<u32, (u64, Process)>);

/// All processes of one moment.
#[derive(Debug, Default)]
pub struct ProcessTable {
    processes: BTreeMap<u32, Process>,
    children: BTreeMap<u32, Vec<u32>>,
    unreadable: Vec<io::Error>,
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
    /// Reads all processes. Those that end meanwhile are left out, and so are those that cannot be
    /// read: one of them must not hide all others.
    ///
    /// # Errors
    /// Those of listing `/proc`.
    pub fn scan(proc: &ProcFs, kernel_threads: &mut KernelThreads) -> io::Result<Self> {
        let mut table = Self::default();
        let known = std::mem::take(&mut kernel_threads.0);
        for (pid, inode) in proc.pids()? {
            let same = known.get(&pid).filter(|(known, _)| *known == inode);
            let process = match same {
                Some((_, thread)) => Ok(Some(*thread)),
                None => proc.process(pid),
            };
            match process {
                Ok(Some(process)) => {
                    table.children.entry(process.parent).or_default().push(pid);
                    table.processes.insert(pid, process);
                    if process.is_kernel_thread {
                        kernel_threads.0.insert(pid, (inode, process));
                    }
                }
                Ok(None) => {}
                // With hidepid an agent without root sees its own user's processes only.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                Err(error) => table.unreadable.push(error),
            }
        }
        Ok(table)
    }

    /// Why processes are missing in it, one for each.
    pub fn unreadable(&self) -> &[io::Error] {
        &self.unreadable
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
        scan(directory.path(), &mut KernelThreads::default())
    }

    fn scan(root: &std::path::Path, kernel_threads: &mut KernelThreads) -> ProcessTable {
        ProcessTable::scan(&ProcFs::new(root), kernel_threads).unwrap()
    }

    #[test]
    fn a_thread_of_the_kernel_is_read_once_and_a_process_with_its_pid_anew() {
        let directory = tempfile::tempdir().unwrap();
        let files = directory.path().join("10");
        let write = |flags: u64, start: u64| {
            let stat = format!("10 (x) S 2 0 0 0 -1 {flags} 0 0 0 0 1 1 1 1 20 0 1 0 {start} 0");
            std::fs::write(files.join("stat"), stat).unwrap();
        };
        std::fs::create_dir(&files).unwrap();
        write(0x0020_0000, 5);
        let mut threads = KernelThreads::default();
        let start = |threads: &mut KernelThreads| {
            let table = scan(directory.path(), threads);
            table.get(10).map(|process| process.start_ticks)
        };
        assert_eq!(start(&mut threads), Some(5));
        write(0, 6);
        assert_eq!(start(&mut threads), Some(5), "it is read again");
        // Another directory has another inode, as another process has.
        std::fs::rename(&files, directory.path().join("kept")).unwrap();
        std::fs::create_dir(&files).unwrap();
        write(0, 7);
        assert_eq!(start(&mut threads), Some(7));
        write(0, 8);
        assert_eq!(start(&mut threads), Some(8));
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
    fn a_process_that_cannot_be_read_is_left_out_and_counted() {
        let directory = tempfile::tempdir().unwrap();
        for (pid, stat) in [
            (10, "10 (sh) S 1 10 10 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 5 0"),
            (11, "11 (sh) S ten 10"),
            (12, "12 (sh) S 10 12 10 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 6 0"),
        ] {
            let files = directory.path().join(pid.to_string());
            std::fs::create_dir(&files).unwrap();
            std::fs::write(files.join("stat"), stat).unwrap();
        }
        let table = scan(directory.path(), &mut KernelThreads::default());
        assert_eq!(pids(&table.tree(key(10, 5), &BTreeSet::new())), [10, 12]);
        let [error] = table.unreadable() else {
            panic!("{:?}", table.unreadable());
        };
        assert!(error.to_string().ends_with("11/stat is not as expected"));
    }

    #[test]
    fn ancestors_reach_up_to_init() {
        let table = table(&[(1, 0, 1, 1), (10, 1, 10, 5), (11, 10, 10, 6)]);
        assert_eq!(table.ancestors(11), [11, 10, 1]);
    }
}
