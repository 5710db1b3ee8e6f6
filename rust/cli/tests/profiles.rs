//! `elastane profiles`: `list`, `show` and `forget`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;

use common::{SALES, assert_contains, elastane, text, three_runs};

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
    assert_eq!((&json[0]["key"], &json[0]["runs"]), (&SALES.into(), &3.into()));
}

#[test]
fn a_profile_is_shown_as_plots() {
    let (_folder, path) = three_runs();
    let printed = elastane(&["profiles", "show", SALES, "--depository", &path]).printed();
    let expected = [
        "profile  of 2 runs",
        "application master, 12 s",
        "executor, 30 s",
        "  cpu: mean 0.55 cores, most 1.00 cores\n    1.00 cores |            ",
        "  memory: mean 350.0 MiB, most 350.0 MiB\n     350.0 MiB |##########",
        "  network: none was measured",
        "  disk: mean 18.0 MB/s, most 40.0 MB/s\n     40.0 MB/s |            ######            ######",
    ];
    assert_contains(&printed, &expected);
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
    let printed =
        elastane(&["profiles", "forget", SALES, "--yes", "--depository", &path]).printed();
    assert_eq!(printed, format!("3 runs of {SALES} forgotten\n"));
    let json = elastane(&["profiles", "list", "--json", "--depository", &path]).json();
    assert_eq!(json.as_array().unwrap().len(), 1);
}

#[test]
fn an_unknown_key_is_refused() {
    let (_folder, path) = three_runs();
    for action in ["show", "forget"] {
        let refused = elastane(&["profiles", action, "sales", "--depository", &path]).refused();
        assert!(refused.contains("no run of \"sales\"; `elastane profiles list`"), "{refused}");
    }
}

#[test]
fn an_application_that_never_succeeded_has_no_profile() {
    let (_folder, path) = three_runs();
    let ended = elastane(&["profiles", "show", "tag|stock", "--depository", &path]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("no run succeeded yet"), "{}", ended.stderr);
}

#[test]
fn nothing_is_forgotten_that_nobody_confirmed() {
    let (_folder, path) = three_runs();
    let refused = elastane(&["profiles", "forget", SALES, "--depository", &path]).refused();
    assert!(refused.contains("--yes is needed"), "{refused}");
    let json = elastane(&["profiles", "list", "--json", "--depository", &path]).json();
    assert_eq!(json.as_array().unwrap().len(), 2);
}

#[test]
fn a_profile_is_drawn_as_an_image() {
    let (folder, path) = three_runs();
    let image = folder.path().join("sales.svg");
    let show = ["profiles", "show", SALES, "--svg", text(&image), "--depository", &path];
    elastane(&show).printed();
    let svg = fs::read_to_string(image).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    // Two kinds of containers, four resources.
    assert_eq!(svg.matches("<path").count(), 8);
}
