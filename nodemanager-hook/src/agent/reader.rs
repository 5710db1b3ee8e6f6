//! Reads the processes of the node, and the usage of containers.

use std::{io, time::Instant};

use super::container::NodeContainer;
use crate::{
    actuators::write_text,
    container_id::ContainerId,
    killing::Killing,
    network::AllCounters,
    samples::Samples,
    sensors::{CpuWaits, Device, KernelThreads, ProcFs, ProcessTable},
    troubles::Troubles,
};

/// Looks for processes that were forked while others were killed.
const MAX_PASSES: usize = 20;

#[derive(Debug)]
pub(super) struct Reader {
    pub proc: ProcFs,
    pub kernel_threads: KernelThreads,
    /// The agent and its ancestors: they are never moved or killed.
    pub forbidden: Vec<u32>,
    /// The disks whose traffic is measured.
    pub disks: Vec<Device>,
    pub samples: Samples,
    /// None if the kernel does not tell how long threads wait for a core.
    pub waits: Option<CpuWaits>,
    pub troubles: Troubles,
}

impl Reader {
    /// Reads all processes, or None if `/proc` cannot be listed.
    pub fn scan(&mut self) -> Option<ProcessTable> {
        let scanned = ProcessTable::scan(&self.proc, &mut self.kernel_threads);
        let table = self.troubles.check("process table", scanned)?;
        for error in table.unreadable() {
            self.troubles.warn("processes not readable", error);
        }
        Some(table)
    }

    /// The texts of `/proc/PID/cgroup` of the processes that still run.
    pub fn cgroups(&self, pids: impl IntoIterator<Item = u32>) -> io::Result<Vec<String>> {
        pids.into_iter().filter_map(|pid| self.proc.cgroup(pid).transpose()).collect()
    }

    /// Adds a reading to a container's open sample. `counters`: None if the network is not read.
    pub fn read(
        &mut self,
        id: &ContainerId,
        container: &mut NodeContainer,
        table: &ProcessTable,
        counters: Option<&AllCounters>,
        now: Instant,
    ) {
        let reading = container.read(&self.proc, table, &self.disks, now);
        if let Some(Some(mut reading)) = self.troubles.check_of("readings", id, reading) {
            if let Some((network, counters)) = container.network.as_mut().zip(counters) {
                reading.counted.add(network.read(counters));
            }
            self.samples.add(id, &reading);
            self.read_waits(id, container);
        }
        self.warn_of(id, container);
    }

    /// Adds the memory of a container to its open sample, which keeps the most.
    pub fn read_memory(&mut self, id: &ContainerId, container: &mut NodeContainer) {
        let reading = container.sensor.read_memory(&self.proc);
        if let Some(Some(reading)) = self.troubles.check_of("readings", id, reading) {
            self.samples.add(id, &reading);
        }
        self.warn_of(id, container);
    }

    fn warn_of(&self, id: &ContainerId, container: &mut NodeContainer) {
        let processes = &mut container.sensor.processes;
        let left_out = std::mem::take(&mut processes.left_out);
        if left_out > 0 {
            let message =
                format!("{id}: {left_out} of its processes are not read, it has too many");
            self.troubles.warn_many("processes not read", left_out as u64, message);
        }
        if std::mem::take(&mut processes.disk_denied) {
            let message = "disk use of other users' processes cannot be read without root";
            self.troubles.warn("disk use denied", message);
        }
        if std::mem::take(&mut processes.opened_anew) {
            let message = "half of the agent's file descriptors are in use: it opens the files of \
                           processes anew for each reading; raise LimitNOFILE";
            self.troubles.warn("files opened anew", message);
        }
    }

    /// Adds to a container's open sample how long its threads waited for a core.
    fn read_waits(&mut self, id: &ContainerId, container: &mut NodeContainer) {
        let Some(waits) = &mut self.waits else {
            return;
        };
        match container.sensor.processes.waited_nanoseconds(waits) {
            Ok(nanoseconds) => self.samples.add_waited(id, nanoseconds),
            Err(error) => {
                // A kernel that does not answer would hold up the agent with each question.
                self.waits = None;
                let message =
                    format!("how long threads wait for a core is no longer measured: {error}");
                self.troubles.warn("waits for a core", message);
            }
        }
    }

    /// Kills a container's processes, in version 2 those in its group at once.
    pub fn kill(&mut self, container: &NodeContainer) -> Killing {
        let mut killing = self.running(container);
        if let Some(group) = container.whole_group() {
            // Before Linux 5.14 the file is missing.
            let killed = write_text(&group.join("cgroup.kill"), "1");
            log::debug!("{}: {killed:?}", group.display());
        }
        killing.signal();
        self.kill_again(container, &mut killing);
        killing
    }

    /// Kills what a killed container's processes have started meanwhile, until nothing new is found.
    pub fn kill_again(&mut self, container: &NodeContainer, killing: &mut Killing) {
        for _ in 0..MAX_PASSES {
            let before = killing.count();
            self.add_listed(container, killing);
            if killing.count() == before {
                self.add_tree(container, killing);
            }
            if killing.count() == before {
                break;
            }
            killing.signal();
        }
    }

    /// A container's processes. Signals none of them.
    pub fn running(&mut self, container: &NodeContainer) -> Killing {
        let mut running = Killing::default();
        self.add_tree(container, &mut running);
        self.add_listed(container, &mut running);
        running
    }

    /// Adds the processes that the container's group lists, if it has one. This takes no scan of all processes, during
    /// which some could start others.
    fn add_listed(&self, container: &NodeContainer, killing: &mut Killing) {
        let pids = container.listed_pids().and_then(Result::ok).unwrap_or_default();
        for pid in pids.into_iter().filter(|pid| !self.forbidden.contains(pid)) {
            if let Some(process) = self.proc.process(pid).ok().flatten() {
                killing.add(process.key(), &self.proc);
            }
        }
    }

    fn add_tree(&mut self, container: &NodeContainer, killing: &mut Killing) {
        let Some((root, table)) = container.root.zip(self.scan()) else {
            return;
        };
        let tree = table.tree(root, &container.sensor.processes.keys());
        for process in tree.into_iter().filter(|one| !self.forbidden.contains(&one.pid)) {
            killing.add(process.key(), &self.proc);
        }
    }
}
