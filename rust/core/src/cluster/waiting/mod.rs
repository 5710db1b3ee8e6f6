//! The waiting applications, and the columns precomputed for them.

mod demand_sums;
mod notes;
mod row;
mod screen;
mod table;

pub(crate) use demand_sums::DemandSumsAround;
pub(crate) use notes::Note;
pub(crate) use row::{Line, Row};
pub(crate) use screen::{Life, Outline, Screen};
pub(crate) use table::{Screened, WaitingTable};
