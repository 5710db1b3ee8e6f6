//! The JVMs of a container: what their heaps hold, and how they give memory back.
//!
//! [`JvmObserver`] finds the JVMs among processes, by [`Jvms`], and looks at them on a thread of its own.
//! [`Jvm::heap`] reads the counters that a JVM publishes in a file. [`Control`] sends a JVM the commands of its [`recipe`] by
//! the attach protocol, on a thread of [`Workers`](crate::workers::Workers). [`HeapFollower`] decides when JVMs shrink and may grow.
//!
//! The job controls its files and its sockets. So everything that the agent reads there is bounded,
//! every wait has a deadline, and no link is followed.
#![allow(missing_docs, reason = "public for the integration tests only")]

mod attach;
mod attach_error;
mod backoff;
mod control;
mod finder;
mod heap_follower;
mod host;
mod instance;
mod job;
mod job_files;
mod job_user;
mod mappings;
mod observer;
mod perf_file;
mod process_handle;
mod search;
mod trigger;

pub mod command;
pub mod perf_data;
pub mod recipe;
pub mod reply;

pub use crate::sensors::ProcessKey;

pub use self::{
    attach_error::AttachError,
    command::{Flag, JvmCommand},
    control::{Control, ControlError, Former},
    finder::Jvms,
    heap_follower::{ContainerMemory, HeapFollower, HeapStep, heap_for_limit},
    host::JvmHost,
    instance::Jvm,
    job::{Attempts, Done, JvmAnswer, JvmJob, JvmTask},
    observer::{JvmObserver, ObservedContainer, SeenJvm},
    perf_data::Collector,
    recipe::{CollectorKind, Wish, heap_in_use},
    search::JvmSearch,
};
pub(crate) use self::{job_files::JobDirectory, mappings::is_jvm, process_handle::ProcessHandle};
#[cfg(fuzzing)]
pub(crate) use self::{mappings::scan as scan_mappings, process_handle::ProcessStatus};
