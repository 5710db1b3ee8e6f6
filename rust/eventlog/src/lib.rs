//! What applications used, from the event logs that Spark wrote while they ran.
//!
//! [`find`] says which logs a path holds, [`read`] makes a [`elastane_predict::Run`] of one.
//! `docs/import.md` has the formats and what each amount is made from. Nothing here knows the
//! depository.

mod application;
mod codec;
mod error;
mod event;
mod executor;
mod find;
mod lines;
mod lz4_block;
mod memory;
mod properties;
mod read;
mod stages;
mod submission;

pub use error::LogError;
pub use find::{EventLog, Found, SkipReason, find};
pub use memory::{MemoryCounts, MemorySource};
pub use read::{ImportOptions, Imported, read};
pub use submission::KeyNote;
