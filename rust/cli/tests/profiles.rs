//! `elastane profiles` and `elastane depository`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;

use common::{depository, elastane, run, text};
use elastane_predict::Outcome::{Failed, Succeeded};
use tempfile::TempDir;

const SALES: &str = "app|SPARK|alice|root.etl|Nightly sales #|sales.py|--day #";

fn three_runs() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let runs = [
        run(SALES, 1, Succeeded),
        run(SALES, 2, Succeeded),
        run(SALES, 3, Failed),
        run("tag|stock", 9, Failed),
    ];
    depository(&path, &runs);
    let path = text(&path).to_owned();
    (folder, path)
}

#[test]
fn every_application_is_listed() {
    let (_folder, path) = three_runs();
    let printed = elastane(&["profiles", "list", "--depository", &path]).printed();
    assert_eq!(
        printed,
        "app|SPARK|alice|root.etl|Nightly sales #|sales.py|--day #\n    \
         3 runs, the latest ended 2025-11-21T14:43:30.000Z: Nightly sales 3\n\
         tag|stock\n    \
         1 run, the latest ended 2025-11-21T14:49:30.000Z: Nightly sales 9\n"
    );
    let json = elastane(&["profiles", "list", "--json", "--depository", &path]).json();
    assert_eq!(
        (&json[0]["key"], &json[0]["runs"]),
        (&SALES.into(), &3.into())
    );
}

#[test]
fn a_profile_is_shown_as_plots() {
    let (_folder, path) = three_runs();
    let printed = elastane(&["profiles", "show", SALES, "--depository", &path]).printed();
    for expected in [
        "profile  of 2 runs",
        "application master, 12 s",
        "executor, 30 s",
        "  cpu: mean 0.55 cores, most 1.00 cores\n    1.00 cores |            ",
        "  memory: mean 350.0 MB, most 350.0 MB\n      350.0 MB |##########",
        "  network: none was measured",
        "  disk: mean 18.0 MB/s, most 40.0 MB/s\n     40.0 MB/s |            ######            ######",
    ] {
        assert!(
            printed.contains(expected),
            "{expected:?} is not in\n{printed}"
        );
    }
}

#[test]
fn a_profile_is_given_as_json() {
    let (_folder, path) = three_runs();
    let json = elastane(&["profiles", "show", SALES, "--json", "--depository", &path]).json();
    assert_eq!((&json["key"], &json["runs"]), (&SALES.into(), &2.into()));
    let executor = &json["demands"][1];
    assert_eq!(executor["kind"], "executor");
    assert_eq!(executor["slot_ms"], 3_000);
    assert_eq!(executor["cpu_cores"].as_array().unwrap().len(), 10);
}

#[test]
fn what_is_forgotten_is_not_listed_any_more() {
    let (_folder, path) = three_runs();
    let printed = elastane(&["profiles", "forget", SALES, "--depository", &path]).printed();
    assert_eq!(printed, format!("3 runs of {SALES} forgotten\n"));
    let json = elastane(&["profiles", "list", "--json", "--depository", &path]).json();
    assert_eq!(json.as_array().unwrap().len(), 1);
}

#[test]
fn an_unknown_key_is_refused() {
    let (_folder, path) = three_runs();
    for action in ["show", "forget"] {
        let refused = elastane(&["profiles", action, "sales", "--depository", &path]).refused();
        assert!(
            refused.contains("no run of \"sales\"; `elastane profiles list`"),
            "{refused}"
        );
    }
}

#[test]
fn an_application_that_never_succeeded_has_no_profile() {
    let (_folder, path) = three_runs();
    let ended = elastane(&["profiles", "show", "tag|stock", "--depository", &path]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.contains("no run succeeded yet"),
        "{}",
        ended.stderr
    );
}

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
    assert!(
        fs::read_to_string(&path)
            .unwrap()
            .starts_with("no depository")
    );
}

#[test]
fn depositories_are_merged() {
    let (folder, first) = three_runs();
    let second = folder.path().join("second.db");
    depository(
        &second,
        &[run(SALES, 1, Succeeded), run(SALES, 4, Succeeded)],
    );
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
