//! `elastane profiles export` and `import`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use common::{SALES, depository, elastane, run_of_two_kinds, text, three_runs};
use serde_json::Value;

#[test]
fn what_was_exported_is_imported_elsewhere_and_is_the_same() {
    let (folder, path) = three_runs();
    let file = folder.path().join("profiles.json");
    let other = folder.path().join("other.db");
    let (file, other) = (text(&file), text(&other));
    let export = ["profiles", "export", "--all", "--file", file, "--depository", &path];
    let printed = elastane(&export).printed();
    assert_eq!(printed, format!("{file}: 2 applications, 4 runs\n"));
    let import = ["profiles", "import", file, "--depository", other];
    assert_eq!(elastane(&import).printed(), "4 runs added, 0 were there already\n");
    assert_eq!(elastane(&import).printed(), "0 runs added, 4 were there already\n");
    let shown = |path: &str| elastane(&["profiles", "show", SALES, "--depository", path]).printed();
    assert_eq!(shown(&path), shown(other));
}

#[test]
fn files_with_data_of_users_are_made_for_their_owner_alone() {
    let (folder, path) = three_runs();
    let mode =
        |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    let (file, plot) = (folder.path().join("profiles.json"), folder.path().join("plot.svg"));
    let export = ["profiles", "export", "--all", "--file", text(&file), "--depository", &path];
    elastane(&export).printed();
    elastane(&["profiles", "show", SALES, "--svg", text(&plot), "--depository", &path]).printed();
    assert_eq!((mode("profiles.json"), mode("plot.svg")), (0o600, 0o600));

    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    elastane(&export).printed();
    assert_eq!(mode("profiles.json"), 0o640, "a file that was there keeps its mode");
}

#[test]
fn a_bad_file_is_refused_with_its_place_and_nothing_is_imported() {
    let (folder, path) = three_runs();
    let (file, other) = (folder.path().join("profiles.json"), folder.path().join("other.db"));
    elastane(&["profiles", "export", SALES, "--file", text(&file), "--depository", &path])
        .printed();
    let good = fs::read_to_string(&file).unwrap();
    for (from, to, place) in [
        ("\"version\":1", "\"version\":2", "version: 2, this program reads 1"),
        ("elastane-profiles", "other", "format: \"other\", \"elastane-profiles\" is needed"),
        ("[0.1,0.2,", "[0.1,-0.2,", "runs[0].series[0].cpu_cores[1]: -0.2, finite"),
        ("[0.1,0.2,", "[0.1,", "runs[0].series[0].memory_bytes: 4 values, 3 are needed"),
        ("[0.1,0.2,", "[\"x\",0.2,", "runs[0].series[0].cpu_cores[0]: invalid type: string"),
        ("\"slot_ms\":3000", "\"slot_ms\":1", "runs[0].series[0].slot_ms: 1, 3000 is needed"),
        (
            "\"slot_ms\":3000",
            "\"slot_ms\":3000,\"stage_ends_ms\":[5,3]",
            "runs[0].series[0].stage_ends_ms[1]: 3, at least 5 is allowed",
        ),
        ("\"outcome\":\"failed\"", "\"outcome\":\"?\"", "runs[2].outcome: unknown variant `?`"),
        ("{\"format\"", "{\"format", "line 1 column"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        fs::write(&file, bad).unwrap();
        let import = ["profiles", "import", text(&file), "--depository", text(&other)];
        let refused = elastane(&import).refused();
        assert!(
            refused.contains(&format!("profiles.json: {place}")) || refused.contains(place),
            "{refused}"
        );
        assert!(!other.exists());
    }
}

#[test]
fn executors_of_two_priorities_are_shown_exported_and_imported_each_by_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| text(&folder.path().join(name)).to_owned();
    let (path, other, file) = (at("a.db"), at("b.db"), at("a.json"));
    let runs = [1, 2, 3].map(run_of_two_kinds);
    depository(path.as_ref(), &runs);
    let show = |path: &str| elastane(&["profiles", "show", SALES, "--depository", path]).printed();
    let shown = show(&path);
    for expected in [
        "\napplication master, 12 s",
        "\nexecutor of priority 0, 30 s",
        "\nexecutor of priority 2, 18 s",
        "  memory: mean 6.0 GiB, most 6.0 GiB",
    ] {
        assert!(shown.contains(expected), "{expected:?} is not in\n{shown}");
    }
    let json = elastane(&["profiles", "show", SALES, "--json", "--depository", &path]).json();
    let kind =
        |at: usize| (json["demands"][at]["kind"].clone(), json["demands"][at]["priority"].clone());
    assert_eq!(kind(0), ("application master".into(), Value::Null));
    assert_eq!(kind(2), ("executor".into(), 2.into()));

    let export = ["profiles", "export", SALES, "--file", &file];
    elastane(&[&export[..], &["--depository", &path]].concat()).printed();
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
