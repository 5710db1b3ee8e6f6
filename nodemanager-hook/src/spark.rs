//! Spark's executors on YARN: the signal that makes one take no more tasks, move its blocks and end by itself.
//!
//! With `spark.decommission.enabled` an executor handles SIGPWR. In every other program the signal would do harm: without a
//! handler it ends the process, and some runtimes (Mono) use it to stop their threads. So a process gets it only if it was
//! started as Spark's executor and handles it.

mod executor;

pub use self::executor::decommission;
