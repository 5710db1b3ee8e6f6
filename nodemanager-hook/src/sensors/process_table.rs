//! A scan of all processes, and the process tree of each container.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use super::{
    proc_fs::ProcFs,
    process::{Process, ProcessKey},
};

/// Kernel threads by pid, with their inode in `/proc`. They are many and never change, so each is
/// read once.
#[derive(Debug, Default)]
pub struct KernelThreads(BTreeMap<u32, (u64, Process)>);

/// All processes at one moment.
#[derive(Debug, Default)]
pub struct ProcessTable {
    processes: BTreeMap<u32, Process>,
    children: BTreeMap<u32, Vec<u32>>,
    unreadable: Vec<io::Error>,
}

impl ProcessTable {
    /// Reads all processes, except those that end meanwhile. A process that cannot be read is left
    /// out: it must not hide all others.
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
                // With hidepid an agent without root only sees processes of its own user.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                Err(error) => table.unreadable.push(error),
            }
        }
        Ok(table)
    }

    /// One error for each process that could not be read.
    pub fn unreadable(&self) -> &[io::Error] {
        &self.unreadable
    }

    pub fn get(&self, pid: u32) -> Option<&Process> {
        self.processes.get(&pid)
    }

    pub fn ancestors(&self, pid: u32) -> Vec<u32> {
        let mut line = vec![pid];
        let mut above = self.get(pid).map(|process| process.parent);
        while let Some(parent) = above.filter(|parent| *parent > 0 && !line.contains(parent)) {
            line.push(parent);
            above = self.get(parent).map(|process| process.parent);
        }
        line
    }

    /// The process tree of a container, by pid: the descendants of `root`, the session that `root`
    /// leads, and the descendants of `known` members. When a parent ends, init adopts the children,
    /// which would be lost without the last two.
    pub fn tree(&self, root: ProcessKey, known: &BTreeSet<ProcessKey>) -> Vec<&Process> {
        // The session of a reused pid is not the container's.
        let reused = self.get(root.pid).is_some_and(|process| process.key() != root);
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

    /// A table with rows of pid, parent, session and start.
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
    fn a_kernel_thread_is_read_once_and_a_process_with_a_reused_pid_anew() {
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
        // Another directory has another inode, as a new process has.
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
        let table =
            table(&[(1, 0, 1, 1), (10, 1, 1, 5), (11, 10, 1, 6), (12, 11, 1, 7), (20, 1, 1, 5)]);
        let tree = table.tree(key(10, 5), &BTreeSet::new());
        assert_eq!(pids(&tree), [10, 11, 12]);
    }

    #[test]
    fn an_orphan_stays_in_the_tree_by_its_session_or_as_a_known_member() {
        let table =
            table(&[(1, 0, 1, 1), (10, 1, 10, 5), (11, 1, 10, 6), (12, 1, 12, 7), (13, 12, 12, 8)]);
        let tree = table.tree(key(10, 5), &BTreeSet::new());
        assert_eq!(pids(&tree), [10, 11]);
        let tree = table.tree(key(10, 5), &BTreeSet::from([key(12, 7)]));
        assert_eq!(pids(&tree), [10, 11, 12, 13]);
    }

    #[test]
    fn a_reused_pid_is_not_the_container() {
        let table = table(&[(1, 0, 1, 1), (10, 1, 10, 99), (11, 10, 10, 100), (12, 1, 12, 100)]);
        let known = BTreeSet::from([key(12, 7)]);
        assert!(table.tree(key(10, 5), &known).is_empty());
    }

    #[test]
    fn an_unreadable_process_is_left_out_and_reported() {
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
