//! Event logs that Spark 4.1.1 wrote (host names, users, paths and what is not read were taken out,
//! Spark's own codecs wrote them again), and damaged ones.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};

use elastane_core::Resource;
use elastane_eventlog::{EventLog, Found, ImportOptions, Imported, KeyNote, LogError, find, read};
use elastane_predict::{ContainerKind, Outcome};

const LZ4: &str = "app-20261122031558-0000.lz4";
const ROLLING: &str = "eventlog_v2_app-20261122031424-0000";

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn logs(path: &Path) -> Vec<EventLog> {
    let logs = find(path).unwrap().into_iter().map(|found| match found {
        Found::Log(log) => log,
        other => panic!("{other:?}"),
    });
    logs.collect()
}

fn read_one(path: &Path) -> Result<Imported, LogError> {
    read(&logs(path)[0], &ImportOptions::default())
}

/// The smallest log that makes a run: one task of 3 CPU seconds and 30 MB to disk, over 3 s.
fn plain() -> String {
    [
        r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.5"}"#,
        r#"{"Event":"SparkListenerApplicationStart","App Name":"Nightly","App ID":"application_1_0001","Timestamp":1000,"User":"alice","App Attempt ID":"2"}"#,
        r#"{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.master":"yarn","spark.submit.deployMode":"client"}}"#,
        r#"{"Event":"SparkListenerExecutorAdded","Timestamp":1000,"Executor ID":"1","Executor Info":{}}"#,
        r#"{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Launch Time":4000,"Finish Time":7000,"Executor ID":"1"},"Task Metrics":{"Executor CPU Time":3000000000,"Output Metrics":{"Bytes Written":30000000}}}"#,
        r#"{"Event":"SparkListenerJobEnd","Job ID":0,"Job Result":{"Result":"JobSucceeded"}}"#,
        r#"{"Event":"SparkListenerApplicationEnd","Timestamp":10000}"#,
        "",
    ]
    .join("\n")
}

fn read_text(text: impl AsRef<[u8]>) -> Result<Imported, LogError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("application_1_0001");
    fs::write(&path, text).unwrap();
    read_one(&path)
}

#[test]
fn a_rolling_zstd_log_of_spark_makes_a_run() {
    let imported = read_one(&data(ROLLING)).unwrap();
    assert_eq!(imported.run.application_id, "app-20261122031424-0000");
    assert_eq!(imported.run.application_name, "sample-job");
    assert_eq!(imported.run.outcome, Outcome::Succeeded);
    assert_eq!(imported.spark_version.as_deref(), Some("4.1.1"));
    assert!(matches!(imported.notes[..], [KeyNote::NotYarn { .. }]));
    let series = &imported.run.series[0];
    assert_eq!((series.kind, series.containers), (ContainerKind::DEFAULT_EXECUTOR, 2));
    // Both executors logged the resident memory of their processes.
    assert_eq!(imported.memory.resident, 2);
    let least = series.slots.iter().map(|slot| slot.memory_bytes).fold(f64::MAX, f64::min);
    assert!(least > 100e6, "{least}");
    for resource in [Resource::Cpu, Resource::Network, Resource::Disk] {
        assert!(series.slots.iter().any(|slot| slot.get(resource) > 0.0), "{resource:?}");
    }
}

#[test]
fn an_lz4_log_of_spark_makes_a_run() {
    let imported = read_one(&data(LZ4)).unwrap();
    assert_eq!(imported.run.outcome, Outcome::Succeeded);
    assert!(imported.tasks > 20, "{}", imported.tasks);
    assert_eq!(imported.executor_memory_bytes, (600.0 + 384.0) * 1024.0 * 1024.0);
}

#[test]
fn a_task_is_spread_over_its_time() {
    let imported = read_text(plain()).unwrap();
    let slots = &imported.run.series[0].slots;
    let cores: Vec<f64> = slots.iter().map(|slot| slot.cpu_cores).collect();
    assert_eq!(cores, [0.0, 1.0, 0.0]);
    assert_eq!(slots[1].disk_bytes_per_s, 10e6);
    // Nothing was logged of its memory: what it requested.
    assert_eq!(slots[0].memory_bytes, (1024.0 + 384.0) * 1024.0 * 1024.0);
    assert_eq!(imported.run.application_key, "app|SPARK|alice|root.default|Nightly");
    assert_eq!(imported.attempt, Some(2));
}

#[test]
fn executors_of_each_resource_profile_have_a_series_of_the_priority_they_are_asked_for_at() {
    let large = [
        r#"{"Event":"SparkListenerResourceProfileAdded","Resource Profile Id":2,"Executor Resource Requests":{"memory":{"Resource Name":"memory","Amount":6144},"memoryOverhead":{"Resource Name":"memoryOverhead","Amount":1024}}}"#,
        r#"{"Event":"SparkListenerExecutorAdded","Timestamp":4000,"Executor ID":"2","Executor Info":{"Resource Profile Id":2}}"#,
        r#"{"Event":"SparkListenerJobEnd""#,
    ]
    .join("\n");
    let text = plain().replace(r#"{"Event":"SparkListenerJobEnd""#, &large);
    let run = read_text(&text).unwrap().run;
    let series: Vec<_> = run
        .series
        .iter()
        .map(|series| {
            let mib = series.slots[0].memory_bytes / (1024.0 * 1024.0);
            (series.kind.priority(), series.containers, series.slots.len(), mib)
        })
        .collect();
    // Nothing was logged of their memory: what each requested.
    assert_eq!(series, [(Some(0), 1, 3, 1408.0), (Some(2), 1, 2, 7168.0)]);
}

#[test]
fn spark_before_resource_profiles_asked_for_all_executors_at_priority_1() {
    for (version, priority) in [("2.4.8", 1), ("3.0.3", 1), ("3.1.1", 0), ("4.0.0", 0), ("?", 0)] {
        let run = read_text(plain().replace("3.5.5", version)).unwrap().run;
        assert_eq!(run.series[0].kind, ContainerKind::Executor { priority }, "{version}");
    }
}

#[test]
fn how_it_ended_is_told_by_the_exit_code_the_last_job_and_the_end() {
    let failed_job = plain().replace("JobSucceeded", "JobFailed");
    let exit_code = plain().replace(r#""Timestamp":10000"#, r#""Timestamp":10000,"ExitCode":1"#);
    let end = r#"{"Event":"SparkListenerApplicationEnd""#;
    let without_end = plain().split(end).next().unwrap().to_owned();
    let cut = plain().trim_end().trim_end_matches("0}").to_owned();
    for (text, outcome) in [
        (plain(), Outcome::Succeeded),
        (failed_job, Outcome::Failed),
        (exit_code, Outcome::Failed),
        (without_end, Outcome::CutOff),
        (cut, Outcome::CutOff),
    ] {
        assert_eq!(read_text(&text).unwrap().run.outcome, outcome, "{text}");
    }
}

#[test]
fn what_one_executor_receives_the_others_send() {
    let second = r#"{"Event":"SparkListenerExecutorAdded","Timestamp":1000,"Executor ID":"2"}"#;
    let read = r#""Task Metrics":{"Shuffle Read Metrics":{"Remote Bytes Read":6000},"#;
    let text = plain()
        .replace(
            "{\"Event\":\"SparkListenerTaskEnd",
            &format!("{second}\n{{\"Event\":\"SparkListenerTaskEnd"),
        )
        .replace(r#""Task Metrics":{"#, read);
    let of_both = |text: &str| -> f64 {
        let slots = &read_text(text).unwrap().run.series[0].slots;
        slots.iter().map(|slot| slot.network_bytes_per_s * 3.0 * 2.0).sum()
    };
    assert!((of_both(&text) - 12_000.0).abs() < 1.0, "{}", of_both(&text));
    // With the shuffle service, the NodeManager sends.
    let served = text.replace(
        r#""spark.master":"yarn""#,
        r#""spark.master":"yarn","spark.shuffle.service.enabled":"true""#,
    );
    assert!((of_both(&served) - 6_000.0).abs() < 1.0, "{}", of_both(&served));
}

#[test]
fn input_that_an_earlier_stage_kept_in_memory_is_no_disk() {
    let stage = |event: &str, stage: u32| {
        format!(
            r#"{{"Event":"SparkListener{event}","Stage Info":{{"Stage ID":{stage},"RDD Info":[{{"RDD ID":7,"Storage Level":{{"Use Memory":true}}}}]}}}}"#
        )
    };
    let task = |stage: u32| {
        format!(
            r#"{{"Event":"SparkListenerTaskEnd","Stage ID":{stage},"Task Info":{{"Launch Time":4000,"Finish Time":7000,"Executor ID":"1"}},"Task Metrics":{{"Input Metrics":{{"Bytes Read":500}}}}}}"#
        )
    };
    let events = [
        stage("StageSubmitted", 1),
        task(1),
        stage("StageCompleted", 1),
        stage("StageSubmitted", 2),
        task(2),
    ];
    let end = "{\"Event\":\"SparkListenerApplicationEnd";
    let text = plain().replace(end, &format!("{}\n{end}", events.join("\n")));
    assert_eq!(read_text(text).unwrap().input_bytes, 500.0);
}

#[test]
fn what_cannot_be_read_is_named() {
    let damaged = plain().replace("\"Finish Time\":7000", "\"Finish Time\":\"late\"");
    for (text, problem) in [
        (plain().into_bytes(), None),
        (b"a,b,c\n1,2,3\n".to_vec(), Some("not a Spark event log")),
        (Vec::new(), Some("no event names the application")),
        (b"\x82SNAPPY\0\0\0\0\x01".to_vec(), Some("compressed with snappy")),
        (b"ZV\x01\0\x10".to_vec(), Some("compressed with lzf")),
        (damaged.into_bytes(), Some("line 5: SparkListenerTaskEnd: ")),
        (
            plain().replace("\"App ID\":\"application_1_0001\",", "").into_bytes(),
            Some("no event names"),
        ),
        (
            plain().replace("ExecutorAdded", "Else").replace("TaskEnd", "Else").into_bytes(),
            Some("no executor"),
        ),
        (fs::read(data(LZ4)).unwrap()[..9_000].to_vec(), Some("failed to fill whole buffer")),
    ] {
        match (read_text(&text), problem) {
            (Ok(_), None) => {}
            (Err(error), Some(problem)) => {
                let error = error.to_string();
                assert!(error.contains("application_1_0001") && error.contains(problem), "{error}");
            }
            (read, _) => panic!("{problem:?}: {read:?}"),
        }
    }
}

#[test]
fn a_folder_holds_logs_of_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let rolling = |name: &str, files: &[&str]| {
        fs::create_dir(at(name)).unwrap();
        for file in files {
            fs::write(at(name).join(file), plain()).unwrap();
        }
    };
    fs::write(at("application_1_0001"), plain()).unwrap();
    fs::write(at(".application_1_0001.crc"), "x").unwrap();
    fs::write(at("application_1_0002.zstd.inprogress"), "").unwrap();
    rolling("eventlog_v2_a_3", &["appstatus_a_3", "events_1_a_3", "events_2_a_3", "events_10_a_3"]);
    rolling("eventlog_v2_a_4", &["appstatus_a_4.inprogress", "events_1_a_4"]);
    rolling("eventlog_v2_a_5", &["appstatus_a_5", "events_2_a_5.compact", "events_3_a_5"]);
    rolling("eventlog_v2_a_6", &["appstatus_a_6", "events_2_a_6", "events_1_a_6"]);
    fs::create_dir(at("else")).unwrap();
    let found: Vec<String> = find(folder.path())
        .unwrap()
        .into_iter()
        .map(|found| match found {
            Found::Log(log) => format!("log {}", log.path.display()),
            Found::InProgress(path) => format!("in progress {}", path.display()),
            Found::Unreadable(error) => error.to_string(),
        })
        .map(|line| line.replace(&format!("{}/", folder.path().display()), ""))
        .collect();
    assert_eq!(
        found,
        [
            "log application_1_0001",
            "in progress application_1_0002.zstd.inprogress",
            "eventlog_v2_a_3: part 3 is missing",
            "in progress eventlog_v2_a_4",
            "eventlog_v2_a_5: compacted by the History Server, events are missing",
            "log eventlog_v2_a_6",
        ]
    );
}

#[test]
fn parts_are_read_in_the_order_of_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("eventlog_v2_application_1_0001");
    fs::create_dir(&log).unwrap();
    let text = plain();
    for (number, line) in (1..).zip(text.lines().collect::<Vec<_>>().chunks(1)) {
        let head = r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.5"}"#;
        fs::write(log.join(format!("events_{number}_a")), format!("{head}\n{}\n", line[0]))
            .unwrap();
    }
    for number in 8..12 {
        fs::write(log.join(format!("events_{number}_a")), "{\"Event\":\"Other\"}\n").unwrap();
    }
    assert_eq!(read_one(&log).unwrap().run.outcome, Outcome::Succeeded);
}
