//! Executors that are told to leave, by a real agent. A JVM whose main class has the name of Spark's executor stands for it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;
#[path = "common/java.rs"]
mod java;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use common::{Agent, Parent, Tree, wait_until};
use elastane_protocol::DecommissionOutcome;

const CLASS: &str = "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend";
static CLASSES: OnceLock<PathBuf> = OnceLock::new();

/// An executor in this folder, started by a script whose `$@` is its program.
fn executor(folder: &Path, handles: bool, script: &str) -> Tree {
    let classes = CLASSES.get_or_init(|| java::compile("YarnCoarseGrainedExecutorBackend"));
    let program =
        format!("java -Xmx64m -cp {} {CLASS} {} {handles}", classes.display(), folder.display());
    let tree = Tree::new(&script.replace("$@", &program));
    wait_until("it is ready", || folder.join("ready").exists());
    tree
}

fn told(folder: &Path) -> String {
    fs::read_to_string(folder.join("told")).unwrap_or_default()
}

fn outcome(agent: &Agent, tree: &Tree) -> Option<DecommissionOutcome> {
    let mut outcomes = agent.report().decommissioned.into_iter();
    outcomes.find(|one| one.container == tree.id).map(|one| one.outcome)
}

/// Orders it until its outcome is known.
fn decommissioned(agent: &Agent, tree: &Tree) -> DecommissionOutcome {
    wait_until("the outcome is known", || {
        agent.decommission(&[tree]);
        outcome(agent, tree).is_some()
    });
    outcome(agent, tree).unwrap()
}

#[test]
fn an_executor_that_handles_the_signal_gets_it_once() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    // The first process has the same arguments, and is no JVM. It stays in the group of processes that ends with the test.
    let executor = executor(directory.path(), true, "timeout --foreground 600 $@");
    let other = Tree::new("sleep 600");
    agent.runs(&[&executor, &other]);
    assert_eq!(outcome(&agent, &executor), None);
    assert_eq!(decommissioned(&agent, &executor), DecommissionOutcome::Signalled);
    wait_until("it was told", || told(directory.path()) == "x");
    agent.decommission(&[&executor]);
    let sequence = agent.report().sequence;
    wait_until("two samples", || agent.report().sequence >= sequence + 2);
    assert_eq!(told(directory.path()), "x");
    assert!(agent.audited().contains(&"decommission_ordered".to_owned()));
    // An executor without blocks has ended before the next report.
    agent.runs(&[&other]);
    let sequence = agent.report().sequence;
    wait_until("two samples", || agent.report().sequence >= sequence + 2);
    assert_eq!(outcome(&agent, &executor), Some(DecommissionOutcome::Signalled));
}

#[test]
fn an_executor_without_a_handler_is_left_alone() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    let executor = executor(directory.path(), false, "exec $@");
    agent.runs(&[&executor]);
    assert_eq!(decommissioned(&agent, &executor), DecommissionOutcome::NotHandled);
    assert_eq!(executor.running_processes(), 1, "the signal would have ended it");
}

#[test]
fn another_program_that_handles_the_signal_is_left_alone() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let directory = tempfile::tempdir().unwrap();
    let told = directory.path().join("told");
    let shell = Tree::new(&format!(
        "trap 'echo x >> {0}' PWR; touch {0}.ready; while :; do sleep 1; done # {CLASS}",
        told.display()
    ));
    wait_until("it is ready", || directory.path().join("told.ready").exists());
    agent.runs(&[&shell]);
    assert_eq!(decommissioned(&agent, &shell), DecommissionOutcome::NoExecutor);
    assert!(!told.exists());
}
