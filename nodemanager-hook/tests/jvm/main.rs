//! Real JVMs: their counters, how they give memory back, and which processes are sent nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod files;
mod finding;
mod gives_back;
#[path = "../common/java.rs"]
mod java;
mod left_alone;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use elastane_agent::jvm::{AttachError, ControlError, Wish};
use java::{MIB, Workload};

fn shrink(heap_mib: u64) -> Wish {
    Wish::Shrink { heap_bytes: heap_mib * MIB, used_bytes: 600 * MIB }
}

fn socket_of(workload: &Workload) -> PathBuf {
    format!("/tmp/.java_pid{}", workload.pid()).into()
}

fn error_of<T: std::fmt::Debug>(result: Result<T, ControlError>) -> AttachError {
    let error = result.unwrap_err();
    assert!(error.sent.is_empty());
    error.source
}

/// Checks that the JVM runs, got no SIGQUIT and has no trigger file.
fn was_left_alone(workload: &mut Workload) {
    for pending in ["SigPnd:", "ShdPnd:"] {
        assert_eq!(workload.status(pending), "0000000000000000");
    }
    assert!(workload.is_alive());
    workload.own_figures();
    // A JVM that finds no trigger file prints its threads.
    assert_eq!(workload.other_lines(), Vec::<String>::new());
    assert!(!Path::new(&format!("/tmp/.attach_pid{}", workload.pid())).exists());
}

/// Prints the costs for `docs/measurements/jvm.md`.
#[test]
#[ignore = "a measurement for release builds"]
fn cost_of_a_jvm() {
    let workload = Workload::start("-Xmx64m");
    let mut jvm = workload.find();
    let control = workload.control();
    let begun = Instant::now();
    let former = control.former().unwrap();
    let first_us = begun.elapsed().as_micros();
    let per_call_us = |count: u32, call: &mut dyn FnMut()| {
        let begun = Instant::now();
        (0..count).for_each(|_| call());
        begun.elapsed().as_micros() as f64 / f64::from(count)
    };
    let find_us = per_call_us(200, &mut || assert!(workload.find().has_counters()));
    let heap_us = per_call_us(2000, &mut || assert!(jvm.heap().unwrap().is_some()));
    let command_us = per_call_us(200, &mut || {
        control.carry_out(Wish::Hold, &former).unwrap();
    });
    println!(
        "jvm find_us={find_us:.0} heap_us={heap_us:.1} command_us={command_us:.0} \
         first_flags_us={first_us}"
    );
}
