//! A real agent with real process trees, for the programs that measure the agent.
//!
//! The agent is the measuring program, started a second time, so that both are the same build.
#![allow(dead_code, unused_imports)] // each program uses a part

mod agent;
mod containers;

use std::error::Error;

pub use self::{
    agent::Agent,
    containers::{Container, Heap},
};

pub type Outcome<T> = Result<T, Box<dyn Error>>;
