//! `elastane profiles` and `elastane depository`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;

use common::{SALES, assert_contains, depository, elastane, run, run_of_two_kinds, text};
use elastane_predict::Outcome::{Failed, Succeeded};
use serde_json::Value;
use tempfile::TempDir;

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
    let expected = [
        "profile  of 2 runs",
        "application master, 12 s",
        "executor, 30 s",
        "  cpu: mean 0.55 cores, most 1.00 cores\n    1.00 cores |            ",
        "  memory: mean 350.0 MB, most 350.0 MB\n      350.0 MB |##########",
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

#[test]
fn series_are_exported_as_a_folder_of_recorded_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let mut runs: Vec<_> = (1..=5)
        .map(|number| run(SALES, number, Succeeded))
        .collect();
    runs[3].outcome = Failed;
    // The application master alone: nothing of the executors to export.
    runs[4].series.truncate(1);
    depository(&path, &runs);
    let series = folder.path().join("series");
    let export = [
        "profiles",
        "export",
        "--all",
        "--series",
        text(&series),
        "--depository",
        text(&path),
    ];
    assert_eq!(
        elastane(&export).printed(),
        format!(
            "{}: 1 application, 4 runs\n1 run left out: no executor lived for 6 s in it\n",
            series.display()
        )
    );
    let written = series.join("app_SPARK_alice_root.etl_Nightly_sales_sales.py_--day");
    let csv = fs::read_to_string(written.join("00001-application_1763736000000_0001.csv")).unwrap();
    assert_eq!(csv.lines().nth(2).unwrap(), "3,0.2,350000000,0,20000000");
    let settings = fs::read_to_string(written.join("settings.json")).unwrap();
    assert!(settings.contains(SALES), "{settings}");

    assert!(elastane(&export).refused().contains("it is not empty"));
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
fn what_was_exported_is_imported_elsewhere_and_is_the_same() {
    let (folder, path) = three_runs();
    let file = folder.path().join("profiles.json");
    let other = folder.path().join("other.db");
    let (file, other) = (text(&file), text(&other));
    let export = [
        "profiles",
        "export",
        "--all",
        "--file",
        file,
        "--depository",
        &path,
    ];
    let printed = elastane(&export).printed();
    assert_eq!(printed, format!("{file}: 2 applications, 4 runs\n"));
    let import = ["profiles", "import", file, "--depository", other];
    assert_eq!(
        elastane(&import).printed(),
        "4 runs added, 0 were there already\n"
    );
    assert_eq!(
        elastane(&import).printed(),
        "0 runs added, 4 were there already\n"
    );
    let shown = |path: &str| elastane(&["profiles", "show", SALES, "--depository", path]).printed();
    assert_eq!(shown(&path), shown(other));
}

#[test]
fn a_bad_file_is_refused_with_its_place_and_nothing_is_imported() {
    let (folder, path) = three_runs();
    let (file, other) = (
        folder.path().join("profiles.json"),
        folder.path().join("other.db"),
    );
    elastane(&[
        "profiles",
        "export",
        SALES,
        "--file",
        text(&file),
        "--depository",
        &path,
    ])
    .printed();
    let good = fs::read_to_string(&file).unwrap();
    for (from, to, place) in [
        (
            "\"version\":1",
            "\"version\":2",
            "version: 2, this program reads 1",
        ),
        (
            "elastane-profiles",
            "other",
            "format: \"other\", \"elastane-profiles\" is needed",
        ),
        (
            "[0.1,0.2,",
            "[0.1,-0.2,",
            "runs[0].series[0].cpu_cores[1]: -0.2, finite",
        ),
        (
            "[0.1,0.2,",
            "[0.1,",
            "runs[0].series[0].memory_bytes: 4 values, 3 are needed",
        ),
        (
            "[0.1,0.2,",
            "[\"x\",0.2,",
            "runs[0].series[0].cpu_cores[0]: invalid type: string",
        ),
        (
            "\"slot_ms\":3000",
            "\"slot_ms\":1",
            "runs[0].series[0].slot_ms: 1, 3000 is needed",
        ),
        (
            "\"outcome\":\"failed\"",
            "\"outcome\":\"?\"",
            "runs[2].outcome: unknown variant `?`",
        ),
        ("{\"format\"", "{\"format", "line 1 column"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        fs::write(&file, bad).unwrap();
        let import = [
            "profiles",
            "import",
            text(&file),
            "--depository",
            text(&other),
        ];
        let refused = elastane(&import).refused();
        assert!(
            refused.contains(&format!("profiles.json: {place}")) || refused.contains(place),
            "{refused}"
        );
        assert!(!other.exists());
    }
}

#[test]
fn a_profile_is_drawn_as_an_image() {
    let (folder, path) = three_runs();
    let image = folder.path().join("sales.svg");
    let show = [
        "profiles",
        "show",
        SALES,
        "--svg",
        text(&image),
        "--depository",
        &path,
    ];
    elastane(&show).printed();
    let svg = fs::read_to_string(image).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    // Two kinds of containers, four resources.
    assert_eq!(svg.matches("<path").count(), 8);
}

#[test]
fn executors_of_two_priorities_are_shown_exported_and_imported_each_by_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| text(&folder.path().join(name)).to_owned();
    let (path, other, file, series) = (at("a.db"), at("b.db"), at("a.json"), at("series"));
    let runs = [1, 2, 3].map(run_of_two_kinds);
    depository(path.as_ref(), &runs);
    let show = |path: &str| elastane(&["profiles", "show", SALES, "--depository", path]).printed();
    let shown = show(&path);
    for expected in [
        "\napplication master, 12 s",
        "\nexecutor of priority 0, 30 s",
        "\nexecutor of priority 2, 18 s",
        "  memory: mean 6.0 GB, most 6.0 GB",
    ] {
        assert!(shown.contains(expected), "{expected:?} is not in\n{shown}");
    }
    let json = elastane(&["profiles", "show", SALES, "--json", "--depository", &path]).json();
    let kind = |at: usize| {
        (
            json["demands"][at]["kind"].clone(),
            json["demands"][at]["priority"].clone(),
        )
    };
    assert_eq!(kind(0), ("application master".into(), Value::Null));
    assert_eq!(kind(2), ("executor".into(), 2.into()));

    let export = [
        "profiles", "export", SALES, "--file", &file, "--series", &series,
    ];
    let printed = elastane(&[&export[..], &["--depository", &path]].concat()).printed();
    assert!(
        printed.ends_with("series: 1 application, 3 runs\n"),
        "{printed}"
    );
    let mut folders: Vec<_> = fs::read_dir(&series)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    let name = "app_SPARK_alice_root.etl_Nightly_sales_sales.py_--day";
    assert_eq!(
        folders,
        [0, 2].map(|priority| format!("{name}-priority-{priority}"))
    );
    elastane(&["profiles", "import", &file, "--depository", &other]).printed();
    assert_eq!(show(&other), shown);
}

#[test]
fn a_file_from_before_executors_had_priorities_is_imported() {
    let (folder, path) = three_runs();
    let file = folder.path().join("profiles.json");
    let export = ["profiles", "export", SALES, "--file", text(&file)];
    elastane(&[&export[..], &["--depository", &path]].concat()).printed();
    // What is of the first priority is written as it was then.
    assert!(!fs::read_to_string(&file).unwrap().contains("priority"));
    let other = folder.path().join("other.db");
    let other = text(&other);
    elastane(&["profiles", "import", text(&file), "--depository", other]).printed();
    let json = elastane(&["profiles", "show", SALES, "--json", "--depository", other]).json();
    assert_eq!(json["demands"][1]["priority"], 0);
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
