//! The resource usage depository: the runs of every application, durable in one SQLite file.
//!
//! [`Depository::open`] makes the file, brings an older one up to date and moves a damaged one
//! aside. A run is saved in one transaction and survives a crash of the process right after; a
//! crash of the machine may lose the last runs, never the file (WAL, synchronous NORMAL).

mod blob;
mod depository;
mod error;
mod merge;
mod open;
mod schema;

pub use depository::{ApplicationSummary, Depository};
pub use error::StoreError;
pub use merge::MergeReport;
pub use open::{Access, Opened};
