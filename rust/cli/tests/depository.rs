//! `elastane depository`, and depositories that cannot be used
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;

use common::{SALES, depository, elastane, run, text, three_runs};
use elastane_predict::Outcome::Succeeded;

#[test]
fn a_depository_that_is_not_there_is_refused_and_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("typo.db");
    for arguments in [
        ["profiles", "list", "--depository", text(&path)],
        ["depository", "merge", "into.db", text(&path)],
    ] {
        let refused = elastane(&arguments).refused();
        assert!(refused.contains("typo.db: no such file"), "{refused}");
        assert!(!path.exists());
    }
}

#[test]
fn a_damaged_depository_is_refused_and_left_as_it_is() {
    let (_folder, path) = three_runs();
    fs::write(&path, "no depository\n".repeat(100)).unwrap();
    for arguments in [
        &["profiles", "list", "--depository", &path][..],
        &["profiles", "forget", SALES, "--depository", &path],
        &["depository", "merge", &path, &path],
    ] {
        let refused = elastane(arguments).refused();
        assert!(refused.contains("the file is damaged"), "{refused}");
    }
    assert!(fs::read_to_string(&path).unwrap().starts_with("no depository"));
}

#[test]
fn depositories_are_merged() {
    let (folder, first) = three_runs();
    let second = folder.path().join("second.db");
    depository(&second, &[run(SALES, 1, Succeeded), run(SALES, 4, Succeeded)]);
    let into = folder.path().join("new/all.db");
    let arguments = ["depository", "merge", text(&into), &first, text(&second)];
    assert_eq!(
        elastane(&arguments).printed(),
        format!(
            "{first}: 4 runs added, 0 were there already\n\
             {}: 1 run added, 1 were there already\n",
            second.display()
        )
    );
    let json = elastane(&["profiles", "list", "--json", "--depository", text(&into)]).json();
    assert_eq!(json[0]["runs"], 4);
}

#[test]
fn a_snapshot_is_a_depository_of_its_own() {
    let (folder, path) = three_runs();
    let copy = folder.path().join("copy.db");
    for _ in 0..2 {
        let snapshot = ["depository", "snapshot", &path, text(&copy)];
        let printed = elastane(&snapshot).printed();
        assert_eq!(printed, format!("{}: written\n", copy.display()));
    }
    let list = |path: &str| elastane(&["profiles", "list", "--depository", path]).printed();
    assert_eq!(list(text(&copy)), list(&path));
    let none = ["depository", "snapshot", "none.db", text(&copy)];
    assert!(elastane(&none).refused().contains("none.db: no such file"));
}
