//! What is left of a substitute when the ResourceManager ends. No other test of this process makes one.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/messages.rs"]
mod messages;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use common::{START_MS, open, register, run_of};
use elastane_store::{Access, Depository};
use messages::{listen, messages};

/// Where the log says that the latest substitute is.
fn substitute() -> PathBuf {
    let messages = messages();
    let place = messages.iter().rev().find_map(|(_, message)| {
        let (_, place) = message.split_once("is kept in ")?;
        Some(PathBuf::from(place.split_once(',')?.0))
    });
    place.unwrap()
}

#[test]
fn a_substitute_stays_behind_only_with_runs() {
    listen();
    let folder = tempfile::tempdir().unwrap();
    symlink("elsewhere", folder.path().join("depository.sqlite")).unwrap();
    let elastane = open(folder.path(), "enforce");
    let empty = substitute();
    assert!(empty.exists());
    elastane.close();
    assert!(!empty.parent().unwrap().exists());

    let elastane = open(folder.path(), "enforce");
    let node = register(&elastane);
    run_of(&elastane, node, "application_1_0001", START_MS, 1.0, true);
    elastane.close();
    let with_run = Depository::open_existing(&substitute(), Access::Read).unwrap();
    assert!(with_run.run("application_1_0001").unwrap().is_some());
    fs::remove_dir_all(substitute().parent().unwrap()).unwrap();
}
