//! Reads the resource usage of applications from Spark's event logs.
//!
//! [`find`] lists the logs of a path; [`read`] converts a log to a [`elastane_predict::Run`].
//! `docs/import.md` describes the formats and the sources of each amount. This crate does not depend on
//! the depository.

mod application;
mod codec;
mod error;
mod event;
mod executor;
mod find;
mod lz4_block;
mod memory;
mod properties;
mod read;
mod stages;
mod submission;

pub use error::LogError;
pub use find::{EventLog, Found, find};
pub use memory::MemoryCounts;
pub use read::{Imported, read};
pub use submission::{ImportOptions, KeyNote};
