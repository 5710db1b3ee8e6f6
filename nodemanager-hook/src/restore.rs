//! `elastane-agent restore`: undoes the changes of a killed agent.

use std::path::Path;

use crate::{
    agent::{Agent, Restored},
    config::Config,
    run::{PROC, RunError},
    server::socket,
};

/// Lifts the limits, moves the processes back and removes the groups of a killed agent.
///
/// # Errors
/// A running agent, and everything that keeps an agent from starting.
pub fn restore(config: &Config) -> Result<Restored, RunError> {
    let path = &config.socket.path;
    socket::remove_stale(path)?;
    Ok(Agent::start(config, Path::new(PROC))?.stop())
}
