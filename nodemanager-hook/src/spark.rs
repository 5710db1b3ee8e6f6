//! Spark's executors on YARN: the signal that makes one take no more tasks, move its blocks and end by itself, and the file in
//! which it tells how far its application has come.
//!
//! With `spark.decommission.enabled` an executor handles SIGPWR. In every other program the signal would do harm: without a
//! handler it ends the process, and some runtimes (Mono) use it to stop their threads. So a process gets it only if it was
//! started as Spark's executor and handles it.

mod executor;
mod progress_file;

#[cfg(fuzzing)]
pub(crate) use self::progress_file::parse as parse_progress;
pub use self::{executor::decommission, progress_file::ProgressFile};
