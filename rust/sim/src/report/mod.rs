//! Reports of an experiment, for people and for programs.

mod html;
mod json;
mod svg;
mod table;

pub use html::to_html;
pub use json::to_json;
pub use svg::escape;
pub use table::write_table;
