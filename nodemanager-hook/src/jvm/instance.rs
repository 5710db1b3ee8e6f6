//! One JVM.

use std::{io, sync::Arc};

use super::{
    Collector, Heap, Host, Kind, PerfFileError, control::Control, mappings, perf_data::PerfData,
    perf_file::PerfFile, process::Process,
};

/// A running JVM, with its counters if it publishes them.
#[derive(Debug)]
pub struct Jvm {
    process: Arc<Process>,
    counters: Option<PerfFile>,
}

impl Jvm {
    /// Examines a process; `None` if it is not a JVM or is gone. A JVM whose counters the agent
    /// cannot see has no heap to read.
    pub fn find(host: &Host, pid: u32) -> Result<Option<Self>, PerfFileError> {
        let read = |source: io::Error| PerfFileError::Read { pid, source };
        let Some(process) = Process::open(&host.proc, pid).map_err(read)? else {
            return Ok(None);
        };
        let Some(status) = process.status().map_err(read)? else {
            return Ok(None);
        };
        let inner_pid = status.inner_pid;
        let Some(mappings) = mappings::read(&process, inner_pid).map_err(read)? else {
            return Ok(None);
        };
        if !mappings.has_library {
            return Ok(None);
        }
        let counters = match &mappings.perf_file {
            Some(mapped) => PerfFile::open(&process, inner_pid, status.uid, mapped)?,
            None => None,
        };
        Ok(Some(Self {
            process: Arc::new(process),
            counters,
        }))
    }

    /// The pid in the agent's pid namespace.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub fn start_ticks(&self) -> u64 {
        self.process.start_ticks()
    }

    pub fn has_counters(&self) -> bool {
        self.counters.is_some()
    }

    /// What the counters tell of the JVM; `None` without counters.
    pub fn data(&self) -> Option<&PerfData> {
        self.counters.as_ref().map(PerfFile::data)
    }

    /// What the heap holds; `None` without counters.
    pub fn heap(&mut self) -> Result<Option<Heap>, PerfFileError> {
        self.counters.as_mut().map(PerfFile::heap).transpose()
    }

    /// Resident memory that the kernel counts more than once. Up to Java 22, ZGC maps the memory
    /// file of its heap three times. The file is no larger than the heap.
    pub fn mapped_again_bytes(&mut self) -> Result<u64, PerfFileError> {
        if self
            .data()
            .is_none_or(|data| data.collector != Collector::Z)
        {
            return Ok(0);
        }
        let pid = self.pid();
        let status = self.process.status();
        let status = status.map_err(|source| PerfFileError::Read { pid, source })?;
        let heap = self.heap()?.unwrap_or_default();
        let mapped = status.map_or(0, |status| status.shared_memory_bytes);
        Ok(mapped.saturating_sub(heap.committed_bytes))
    }

    /// The control of the heap; `None` without counters, which select the commands.
    pub fn control(&self, host: &Host) -> Option<Control> {
        let data = self.data()?;
        let kind = Kind {
            collector: data.collector,
            java_version: data.java_version,
        };
        let process = Arc::clone(&self.process);
        Some(Control::new(
            host.clone(),
            process,
            kind,
            data.accepts_attach,
        ))
    }
}
