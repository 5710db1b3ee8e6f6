//! One JVM.

use std::{io, sync::Arc};

use super::{
    Collector, Heap, Host, Kind, PerfFileError, control::Control, mappings, perf_data::PerfData,
    perf_file::PerfFile, process::Process,
};

/// A JVM that runs, with its counters where it publishes them.
#[derive(Debug)]
pub struct Jvm {
    process: Arc<Process>,
    counters: Option<PerfFile>,
}

impl Jvm {
    /// Looks whether a process is a JVM; nothing when it is none or is gone. A JVM that publishes
    /// no counters, or where the agent cannot see them, is one without a heap to read.
    ///
    /// # Errors
    /// Those of reading `/proc`, and counters that are not as a JVM's own would be.
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

    /// Its pid in the agent's pid namespace.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// When its process began, in ticks since the boot.
    pub fn start_ticks(&self) -> u64 {
        self.process.start_ticks()
    }

    /// Whether it publishes counters that the agent can read.
    pub fn has_counters(&self) -> bool {
        self.counters.is_some()
    }

    /// What it is, for the log; nothing without counters.
    pub fn data(&self) -> Option<&PerfData> {
        self.counters.as_ref().map(PerfFile::data)
    }

    /// What its heap holds; nothing without counters.
    ///
    /// # Errors
    /// Counters that cannot be read, or are not a JVM's any more.
    pub fn heap(&mut self) -> Result<Option<Heap>, PerfFileError> {
        self.counters.as_mut().map(PerfFile::heap).transpose()
    }

    /// What of its resident memory is pages that it has mapped already: ZGC has one file in memory
    /// for its heap, and up to Java 22 maps that three times. The file is not larger than the heap.
    ///
    /// # Errors
    /// Those of [`Self::heap`], and of reading its status.
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

    /// What asks it to change its heap; nothing without counters, because without them it is not
    /// known what to ask.
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
