//! Policies return an answer and a finite score for any input that the types allow.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "properties/on_any_input.rs"]
mod on_any_input;

use elastane_core::policy::{Policy, PolicyOptions, named, names};

fn policies(options: PolicyOptions) -> Vec<Box<dyn Policy>> {
    let names = names().into_iter();
    names.map(|name| named(name, options).unwrap()).collect()
}
