//! One JVM.

use std::{io, sync::Arc};

use super::{
    Collector, CollectorKind, JvmHost,
    attach::{Attach, Timeouts},
    control::Control,
    mappings,
    perf_data::PerfData,
    perf_file::PerfFile,
    process_handle::ProcessHandle,
};
use crate::sensors::{HeldHeap, ProcessKey, is_gone};

/// A running JVM, with its counters if it publishes them.
#[derive(Debug)]
pub struct Jvm {
    process: Arc<ProcessHandle>,
    counters: Option<PerfFile>,
}

impl Jvm {
    /// Examines a process; `None` if it is not a JVM or is gone. A JVM whose counters the agent
    /// cannot see has no heap to read.
    pub fn find(host: &JvmHost, pid: u32) -> io::Result<Option<Self>> {
        match Self::examine(host, pid) {
            Err(error) if is_gone(&error) => Ok(None),
            examined => examined.map_err(unreadable(pid)),
        }
    }

    fn examine(host: &JvmHost, pid: u32) -> io::Result<Option<Self>> {
        let process = ProcessHandle::open(&host.proc, pid)?;
        let status = process.status()?;
        let mappings = mappings::read(&process, status.inner_pid)?;
        if !mappings.has_library {
            return Ok(None);
        }
        let counters = match &mappings.perf_file {
            Some(mapped) => PerfFile::open(&process, status, mapped)?,
            None => None,
        };
        Ok(Some(Self { process: Arc::new(process), counters }))
    }

    /// A process of a recorded `/proc` as if it had mapped this file of counters.
    #[cfg(test)]
    pub fn with_counters(proc: &std::path::Path, pid: u32, counters: &std::path::Path) -> Self {
        let process = ProcessHandle::open(proc, pid).unwrap();
        Self { process: Arc::new(process), counters: Some(PerfFile::recorded(counters)) }
    }

    /// With the pid in the agent's pid namespace.
    pub fn key(&self) -> ProcessKey {
        self.process.key()
    }

    pub fn has_counters(&self) -> bool {
        self.counters.is_some()
    }

    /// What the counters tell of the JVM; `None` without counters.
    pub fn data(&self) -> Option<&PerfData> {
        self.counters.as_ref().map(PerfFile::data)
    }

    /// What the heap holds; `None` without counters.
    pub fn heap(&mut self) -> io::Result<Option<HeldHeap>> {
        let heap = self.counters.as_mut().map(PerfFile::heap).transpose();
        heap.map_err(unreadable(self.process.pid()))
    }

    /// Resident memory that the kernel counts more than once. Up to Java 22, ZGC maps the memory
    /// file of its heap three times. The file is no larger than the heap.
    pub fn mapped_again_bytes(&mut self) -> io::Result<u64> {
        if self.data().is_none_or(|data| data.collector != Collector::Z) {
            return Ok(0);
        }
        let mapped_bytes = match self.process.status() {
            Err(error) if is_gone(&error) => 0,
            status => status.map_err(unreadable(self.process.pid()))?.shared_memory_bytes,
        };
        let heap = self.heap()?.unwrap_or_default();
        Ok(mapped_bytes.saturating_sub(heap.committed_bytes))
    }

    /// The control of the heap; `None` without counters, which select the commands.
    pub fn control(&self, host: &JvmHost) -> Option<Control> {
        let data = self.data()?;
        Some(Control {
            attach: Attach {
                host: host.clone(),
                process: Arc::clone(&self.process),
                timeouts: Timeouts::default(),
            },
            kind: CollectorKind { collector: data.collector, java_version: data.java_version },
            accepts_attach: data.accepts_attach,
        })
    }
}

/// Names the process in an error.
fn unreadable(pid: u32) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::other(format!("counters of pid {pid}: {error}"))
}
