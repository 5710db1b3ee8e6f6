//! A real agent with real containers, for the programs that measure it.
//!
//! The agent is the measuring program started a second time, so that both are built from the same
//! sources.
#![allow(dead_code, unused_imports)] // each program uses a part

mod agent;
mod containers;

use std::error::Error;

pub use self::{
    agent::Agent,
    containers::{Container, Heap},
};

pub type Outcome<T> = Result<T, Box<dyn Error>>;
