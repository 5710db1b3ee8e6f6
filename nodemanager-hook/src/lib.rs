//! The node agent: measures the containers of one node and limits them by the plan.
//!
//! The modules follow the data: [`config`] → [`containers`] (the NodeManager's list) → [`sensors`] →
//! [`samples`] → [`report`] (up) and [`plan`] (down) → [`actuators`] → [`audit`]. [`agent`] connects
//! them, [`server`] is the Unix socket, [`run`] has the threads, [`journal`] the changes to undo after
//! a crash.

mod actuators;
mod agent;
mod audit;
mod cgroups;
mod command;
mod config;
mod container_id;
mod containers;
mod doctor;
#[cfg(fuzzing)]
#[path = "../fuzz/entry_points.rs"]
pub mod fuzzing;
mod journal;
pub mod jvm;
mod killing;
pub mod memory_watch;
mod netlink;
pub mod network;
mod own_file;
mod peer;
mod plan;
mod report;
mod restrictions;
mod run;
mod samples;
mod schedule;
mod sensors;
mod server;
mod spark;
mod status;
#[cfg(test)]
mod tests;
mod troubles;
mod watchdog;
mod workers;

pub use command::main;
