//! The JVMs of a container: what their heaps hold, and how they give memory back.
//!
//! [`Jvms`] finds the JVMs among processes; [`Jvm::heap`] reads the counters that a JVM publishes in
//! a file; [`Control`] asks a JVM by its attach protocol for what [`recipe`] says, on the thread of
//! a [`Worker`]; [`HeapFollower`] says in which order heap and limit change.
//!
//! Everything in a job's files and everything that answers on its socket is the job's word: it is
//! bounded, it is waited for with a deadline, and no link in it is followed.

mod attach;
mod backoff;
mod control;
mod finder;
mod freezer;
mod heap_follower;
mod host;
mod instance;
mod job_files;
mod listener;
mod mappings;
mod perf_file;
mod process;
mod worker;

pub mod command;
pub mod perf_data;
pub mod recipe;
pub mod reply;

pub use self::{
    attach::{AttachError, Patience},
    command::{Command, Flag},
    control::{Control, ControlError, Former},
    finder::Jvms,
    heap_follower::{HeapFollower, Reading, Step, heap_for_limit},
    host::Host,
    instance::Jvm,
    perf_data::{Collector, Heap},
    perf_file::PerfFileError,
    recipe::{Kind, Recipe, Wish, heap_in_use},
    worker::{Answer, Done, Job, QueueFull, Task, Worker},
};
#[cfg(fuzzing)]
pub(crate) use self::{
    freezer::Freezers,
    mappings::scan as scan_mappings,
    process::{parse_start_ticks, parse_status},
};
