//! `elastane import spark-eventlog`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::path::Path;

use common::{elastane, text};
use elastane_predict::{Outcome, Run};
use elastane_store::{Access, Depository};
use tempfile::TempDir;

fn log(id: &str, attempt: u32, seconds: u32) -> String {
    let end = 1_000 + seconds * 1_000;
    format!(
        r#"{{"Event":"SparkListenerLogStart","Spark Version":"3.5.5"}}
{{"Event":"SparkListenerApplicationStart","App Name":"Nightly 7","App ID":"{id}","Timestamp":1000,"User":"alice","App Attempt ID":"{attempt}"}}
{{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{{"spark.master":"yarn","spark.submit.deployMode":"client","spark.yarn.queue":"etl"}}}}
{{"Event":"SparkListenerExecutorAdded","Timestamp":1000,"Executor ID":"1"}}
{{"Event":"SparkListenerApplicationEnd","Timestamp":{end}}}
"#
    )
}

/// Two applications, one of them in two attempts, one log in progress, one damaged.
fn history() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("application_1_0001_1", log("application_1_0001", 1, 30)),
        ("application_1_0001_2", log("application_1_0001", 2, 60)),
        ("application_1_0002_1", log("application_1_0002", 1, 90)),
        ("application_1_0003_1.inprogress", String::new()),
        ("application_1_0004_1", "no log".to_owned()),
    ] {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn runs(depository: &Path) -> Vec<Run> {
    let depository = Depository::open_existing(depository, Access::Read).unwrap();
    depository.latest_runs("app|SPARK|alice|root.etl|Nightly #", 9).unwrap()
}

#[test]
fn a_folder_becomes_runs_and_what_is_not_read_is_named() {
    let history = history();
    let folder = tempfile::tempdir().unwrap();
    let depository = folder.path().join("imported.db");
    let ended = elastane(&[
        "import",
        "spark-eventlog",
        text(history.path()),
        "--depository",
        text(&depository),
    ]);
    assert_eq!(ended.code, Some(1));
    assert_eq!(ended.stderr, "elastane: 1 log could not be read\n");
    let printed = ended.stdout.replace(&format!("{}/", text(history.path())), "");
    for line in [
        "application_1_0002  succeeded, 0 tasks with 1 executor in 1 min 30 s, memory as requested",
        "    app|SPARK|alice|root.etl|Nightly #",
        "skipped application_1_0001_1: application_1_0001_2 is of the same application",
        "skipped application_1_0003_1.inprogress: in progress",
        "unreadable application_1_0004_1: not a Spark event log",
        "2 runs: queue etl is taken as root.etl; `--queue etl=PATH` where it is another",
        "2 runs read: 2 added, 0 there already; 2 logs skipped, 1 unreadable",
    ] {
        assert!(printed.lines().any(|it| it == line), "{line} in {printed}");
    }
    let lengths: Vec<i64> =
        runs(&depository).iter().map(|it| it.ended_ms - it.started_ms).collect();
    assert_eq!(lengths, [90_000, 60_000]);
}

#[test]
fn a_measured_run_stays() {
    let history = history();
    let path = history.path().join("depository.db");
    let mut measured = common::run("app|SPARK|alice|root.etl|Nightly #", 1, Outcome::Succeeded);
    measured.application_id = "application_1_0002".into();
    Depository::open(&path).unwrap().depository.save(&measured).unwrap();
    let log = history.path().join("application_1_0002_1");
    let arguments = ["import", "spark-eventlog", text(&log), "--depository", text(&path)];
    let printed = elastane(&arguments).printed();
    assert!(
        printed.ends_with("1 run read: 0 added, 1 there already; 0 logs skipped, 0 unreadable\n")
    );
    assert_eq!(runs(&path)[0].ended_ms, measured.ended_ms);
}

#[test]
fn what_a_run_was_given_is_kept_as_the_next_submission_will_have_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("imported.db");
    let command = "org.apache.spark.deploy.yarn.ApplicationMaster --class count.Main \
                   --arg --rounds --arg 12 --properties-file x";
    let properties = r#""spark.submit.deployMode":"cluster","spark.executor.instances":"4","spark.yarn.tags":"elastane.setting.input_bytes=2e9""#;
    let log = log("application_1_0001", 1, 30)
        .replace(r#""spark.submit.deployMode":"client""#, properties)
        .replace(
            r#""spark.yarn.queue":"etl"}"#,
            &format!(
                r#""spark.yarn.queue":"etl"}},"System Properties":{{"sun.java.command":"{command}"}}"#
            ),
        );
    let file = folder.path().join("log");
    fs::write(&file, log).unwrap();
    elastane(&["import", "spark-eventlog", text(&file), "--depository", text(&path)]).printed();
    let depository = Depository::open_existing(&path, Access::Read).unwrap();
    let kept = depository.submission("application_1_0001").unwrap().unwrap();
    assert_eq!(kept.application_key, "app|SPARK|alice|root.etl|Nightly #|count.Main|--rounds #");
    let settings: Vec<(String, f64)> = kept.settings.into_iter().collect();
    let expected = [("--rounds", 12.0), ("executors", 4.0), ("input_bytes", 2e9)];
    assert_eq!(settings, expected.map(|(name, number)| (name.to_owned(), number)));
}

#[test]
fn a_dry_run_needs_and_changes_no_depository() {
    let history = history();
    let log = history.path().join("application_1_0002_1");
    let arguments = [
        "import",
        "spark-eventlog",
        text(&log),
        "--dry-run",
        "--json",
        "--queue",
        "etl=root.a.etl",
    ];
    let report = elastane(&arguments).json();
    assert_eq!(report["read"][0]["key"], "app|SPARK|alice|root.a.etl|Nightly #");
    assert!(report["saved"].is_null());
}

#[test]
fn a_path_without_a_log_is_named_and_the_others_are_imported() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    let (good, missing, empty) = (inside("good"), inside("missing"), inside("empty"));
    fs::write(&good, log("application_1_0001", 1, 30)).unwrap();
    fs::create_dir(&empty).unwrap();
    let rolling = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../eventlog/tests/data/eventlog_v2_app-20261122031424-0000");
    let depository = inside("imported.db");
    let ended = elastane(&[
        "import",
        "spark-eventlog",
        text(&missing),
        text(&good),
        text(&empty),
        text(&rolling),
        "--depository",
        text(&depository),
    ]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert_eq!(ended.stderr, "elastane: 2 logs could not be read\n");
    for line in [
        format!("unreadable {}: No such file or directory (os error 2)", text(&missing)),
        format!("unreadable {}: no event log in it", text(&empty)),
        "2 runs read: 2 added, 0 there already; 0 logs skipped, 2 unreadable".to_owned(),
    ] {
        let printed = &ended.stdout;
        assert!(printed.lines().any(|it| it == line), "{line} in {printed}");
    }
    let depository = Depository::open_existing(&depository, Access::Read).unwrap();
    for id in ["application_1_0001", "app-20261122031424-0000"] {
        assert!(depository.run(id).unwrap().is_some(), "{id}");
    }
}

#[test]
fn wrong_usage_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    for path in [folder.path(), &missing] {
        let refused = elastane(&["import", "spark-eventlog", text(path), "--dry-run"]).refused();
        assert!(refused.contains(text(path)), "{refused}");
    }
    let paths = [text(&missing), text(folder.path())];
    let arguments = ["import", "spark-eventlog", paths[0], paths[1], "--dry-run"];
    let refused = elastane(&arguments).refused();
    assert!(refused.contains(paths[0]), "{refused}");
    let code = elastane(&["import", "spark-eventlog", "x"]).code;
    assert_eq!(code, Some(2), "a depository or --dry-run is needed");
}
