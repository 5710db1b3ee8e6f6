//! `elastane-agent restore`: what a killed agent left, put back without starting one.

use std::path::Path;

use crate::{
    agent::{Agent, Restored},
    config::Config,
    run::{PROC, RunError},
    server::socket,
};

/// Lifts the limits, moves the processes back and removes the groups that a killed agent left.
///
/// # Errors
/// An agent that runs, or what keeps one from starting.
pub fn restore(config: &Config) -> Result<Restored, RunError> {
    let path = &config.socket.path;
    socket::remove_stale(path)?;
    let restored = Agent::start(config, Path::new(PROC))?.stop();
    Ok(restored)
}
