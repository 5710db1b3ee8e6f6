//! Which application this is, what its earlier runs used, and what its next run is expected to use.
//!
//! [`signature()`] says which submissions are the same application. A [`RunRecorder`] turns the
//! samples of a running one into the series of a [`Run`]; [`profile()`] makes a [`Profile`] from the
//! latest runs. Nothing here does I/O or knows a clock; `docs/learning.md` has the formulas.

mod launch;
mod profile;
mod recorder;
mod run;
mod shape;
mod shell;
mod signature;
mod stem;

pub use profile::{LeftOut, Profile, ProfileSettings, profile};
pub use recorder::{MAX_SLOTS, RunRecorder};
pub use run::{ContainerKind, Outcome, Run, RunSeries};
pub use signature::{MAX_KEY_BYTES, Signature, SignatureSource, Submission, signature};
