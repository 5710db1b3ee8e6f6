//! The peer of the socket, and the processes that it may name as containers.
//!
//! Permission to use the socket does not make a peer root: with DefaultContainerExecutor every job
//! runs as the NodeManager's user. So a named process must belong to the peer, or root must have
//! arranged that it is a container's.

use crate::sensors::{Process, ProcessTable, Users};

const ROOT: u32 = 0;

/// The peer's credentials, from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// 0 if the process is not visible in the agent's PID namespace.
    pub pid: u32,
    pub uid: u32,
}

impl Peer {
    /// Checks that the peer may name a process as the root of a container.
    ///
    /// A process of the peer's user need not descend from the peer: a restarted NodeManager is not
    /// the parent of the running containers.
    pub fn may_name(
        self,
        process: &Process,
        users: Users,
        table: &ProcessTable,
        is_in_executors_group: bool,
    ) -> Result<(), String> {
        let (pid, peer) = (process.pid, self.uid);
        if process.is_kernel_thread {
            return Err(format!("pid {pid} is a kernel thread"));
        }
        if table.ancestors(self.pid).contains(&pid) {
            return Err(format!("pid {pid} is the process that named it, or an ancestor of it"));
        }
        if peer == ROOT {
            return Ok(());
        }
        if [users.real, users.effective, users.saved].contains(&ROOT) {
            return Err(format!("pid {pid} belongs to root, but uid {peer} named it"));
        }
        let is_own = users.real == peer && users.effective == peer;
        if is_own || is_in_executors_group || table.ancestors(pid).contains(&self.pid) {
            return Ok(());
        }
        Err(format!(
            "pid {pid} belongs to uid {}, but uid {peer} named it: the process does not descend \
             from the peer and is not in a group named after the container",
            users.real
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensors::{KernelThreads, ProcFs};

    const KERNEL_THREAD: u64 = 2_129_984;
    const NODE_MANAGER: Peer = Peer { pid: 10, uid: 500 };

    fn users(uid: u32) -> Users {
        Users { real: uid, effective: uid, saved: uid }
    }

    /// The check of process 11, a child of 10, or of 20, a child of init.
    fn named(peer: Peer, pid: u32, users: Users, in_group: bool) -> Result<(), String> {
        let directory = tempfile::tempdir().unwrap();
        for (pid, parent, flags) in [(10, 1, 0), (11, 10, 0), (20, 1, 0), (30, 2, KERNEL_THREAD)] {
            let files = directory.path().join(pid.to_string());
            let stat =
                format!("{pid} (sh) S {parent} 1 1 0 -1 {flags} 0 0 0 0 1 1 1 1 20 0 1 0 9 0");
            std::fs::create_dir(&files).unwrap();
            std::fs::write(files.join("stat"), stat).unwrap();
        }
        let proc = ProcFs::new(directory.path());
        let table = ProcessTable::scan(&proc, &mut KernelThreads::default()).unwrap();
        peer.may_name(table.get(pid).unwrap(), users, &table, in_group)
    }

    #[test]
    fn a_process_of_the_same_user_is_allowed_after_a_restart_of_the_node_manager() {
        assert_eq!(named(NODE_MANAGER, 20, users(500), false), Ok(()));
    }

    #[test]
    fn another_users_process_must_descend_from_the_peer_or_be_in_the_executors_group() {
        assert_eq!(named(NODE_MANAGER, 11, users(600), false), Ok(()));
        assert_eq!(named(NODE_MANAGER, 20, users(600), true), Ok(()));
        let error = named(NODE_MANAGER, 20, users(600), false).unwrap_err();
        assert!(
            error.to_string().starts_with("pid 20 belongs to uid 600, but uid 500 named it"),
            "{error}"
        );
    }

    #[test]
    fn only_root_may_name_a_process_with_roots_rights() {
        let set_user_id = Users { real: 500, effective: 0, saved: 0 };
        for users in [users(0), set_user_id] {
            for (pid, in_group) in [(11, false), (20, true)] {
                let refused = format!("pid {pid} belongs to root, but uid 500 named it");
                assert_eq!(named(NODE_MANAGER, pid, users, in_group), Err(refused));
            }
            let root = Peer { pid: 10, uid: 0 };
            assert_eq!(named(root, 20, users, false), Ok(()));
        }
    }

    #[test]
    fn nobody_may_name_itself_or_an_ancestor() {
        let job = Peer { pid: 11, uid: 500 };
        for (peer, pid) in [(job, 10), (job, 11), (Peer { pid: 11, uid: 0 }, 10)] {
            let refused = format!("pid {pid} is the process that named it, or an ancestor of it");
            assert_eq!(named(peer, pid, users(500), true), Err(refused));
        }
    }

    #[test]
    fn nobody_may_name_a_kernel_thread() {
        let root = Peer { pid: 10, uid: 0 };
        let refused = Err("pid 30 is a kernel thread".to_owned());
        assert_eq!(named(root, 30, users(0), true), refused);
    }

    #[test]
    fn an_invisible_peer_has_no_descendants() {
        let outside = Peer { pid: 0, uid: 500 };
        assert!(named(outside, 11, users(600), false).is_err());
    }
}
