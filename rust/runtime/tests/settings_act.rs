//! What an administrator sets is what happens.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{
    GB, NODE, START_MS, commit, free, journal, learn_named, named_submission, open, open_with,
    register, reply, run_of, settings, submission, unencoded_report, waiting,
};
use elastane_core::cluster::{ApplicationId, NodeId};
use elastane_predict::Submission;
use elastane_protocol::{CanLimit, Limits, Reply, Report, VERSION, decode, encode};
use elastane_runtime::Elastane;

const ID: &str = "application_1_0099";

/// Runs of one container with so many cores in its first slot, oldest first.
fn learn(folder: &Path, cores_of_runs: &[f32]) {
    let observing = open(folder, "observe");
    let node = register(&observing);
    for (number, cores) in cores_of_runs.iter().enumerate() {
        let id = format!("application_1_{number:04}");
        let start_ms = START_MS + number as i64 * 60_000;
        run_of(&observing, node, &id, start_ms, *cores, true);
    }
    observing.close();
}

/// How many containers of the learned application the core lets onto an empty node of 8 GB.
fn admitted(elastane: &Elastane) -> usize {
    let node = register(elastane);
    reply(elastane, 0, START_MS, &[]);
    let application = elastane.application_added(&submission(ID), START_MS);
    (0..100)
        .take_while(|number| {
            let container = format!("container_{number}");
            commit(elastane, &container, application, node, START_MS)
        })
        .count()
}

/// The learned application's container "a" starts on an empty node that reports.
fn start(elastane: &Elastane) -> (NodeId, ApplicationId) {
    let node = register(elastane);
    reply(elastane, 0, START_MS, &[]);
    let application = elastane.application_added(&submission(ID), START_MS);
    assert!(commit(elastane, "a", application, node, START_MS));
    (node, application)
}

fn first_step(elastane: &Elastane) -> Limits {
    start(elastane);
    let reply = reply(elastane, 1, START_MS, &[("a", GB)]);
    reply.plans[0].steps[0].limits
}

#[test]
fn a_container_has_no_plan_unless_a_limit_is_switched_on() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), &[0.75]);
    for (weights, planned) in [("on", 1), ("off", 0)] {
        let elastane = open_with(folder.path(), "enforce", &[("plan.cpu.weights", weights)]);
        start(&elastane);
        let can_limit = CanLimit { cpu: true, memory: true, disk: true, ..CanLimit::default() };
        let able = Report { can_limit, ..unencoded_report(1, &[("a", 1.0, GB)]) };
        let reply = elastane.report(NODE, VERSION, &encode(&able).unwrap(), START_MS).unwrap();
        let plans = decode::<Reply>(VERSION, &reply).unwrap().plans;
        assert_eq!(plans.len(), planned, "{weights}");
        elastane.close();
    }
}

#[test]
fn a_profile_is_the_mean_of_the_latest_three_runs() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), &[2.0, 0.625, 0.75, 0.875]);
    let elastane = open(folder.path(), "enforce");
    assert_eq!(first_step(&elastane).cpu_weight_cores, Some(0.75));
}

#[test]
fn profile_runs_says_how_many_runs_make_a_profile() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), &[2.0, 0.25, 0.5, 1.5]);
    let elastane = open_with(folder.path(), "enforce", &[("profile.runs", "1")]);
    assert_eq!(first_step(&elastane).cpu_weight_cores, Some(1.5));
}

#[test]
fn a_margin_is_kept_free_beside_what_runs() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), &[0.25]);
    let elastane = open(folder.path(), "enforce");
    assert_eq!(admitted(&elastane), 8, "1 GB each by the profile");
    elastane.close();
    let elastane = open_with(folder.path(), "enforce", &[("profile.margin", "0.5")]);
    // One run alone is half sure, which doubles the margin.
    assert_eq!(admitted(&elastane), 7, "2 GB for the last one beside 6 GB");
}

#[test]
fn memory_that_is_in_use_is_not_given_out_whatever_the_profile_says() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), &[0.25]);
    let elastane = open(folder.path(), "enforce");
    let (node, application) = start(&elastane);
    reply(&elastane, 1, START_MS, &[("a", 7 * GB)]);
    assert!(commit(&elastane, "b", application, node, START_MS));
    assert!(!commit(&elastane, "c", application, node, START_MS));
}

#[test]
fn a_cap_goes_with_the_plan_only_where_one_is_set() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), &[1.0]);
    let elastane = open(folder.path(), "enforce");
    assert_eq!(first_step(&elastane).cpu_cap_cores, None);
    elastane.close();
    let elastane = open_with(folder.path(), "enforce", &[("plan.cpu.cap-ratio", "3")]);
    assert_eq!(first_step(&elastane).cpu_cap_cores, Some(3.0));
}

#[test]
fn traffic_is_capped_only_where_that_is_set_and_never_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), &[1.0]);
    let elastane = open(folder.path(), "enforce");
    let limits = first_step(&elastane);
    assert_eq!(limits.disk_cap_bytes_per_s, None);
    assert_eq!(limits.network_cap_bytes_per_s, None);
    assert_eq!(limits.network_weight_bytes_per_s, Some(256 << 10));
    elastane.close();
    let strict = [("plan.disk.cap-ratio", "2"), ("plan.network.cap-ratio", "2")];
    let elastane = open_with(folder.path(), "enforce", &strict);
    let limits = first_step(&elastane);
    assert_eq!(limits.disk_cap_bytes_per_s, Some(4 << 20));
    assert_eq!(limits.network_cap_bytes_per_s, Some(4 << 20));
}

#[test]
fn memory_is_limited_only_where_that_is_set() {
    let folder = tempfile::tempdir().unwrap();
    // Long enough that its end is not in sight, and 1 GB throughout.
    learn_named(folder.path(), &[("nightly report 2026-11-20", &[1.0; 10])]);
    let elastane = open(folder.path(), "enforce");
    assert_eq!(first_step(&elastane).memory_bytes, None);
    elastane.close();
    let elastane = open_with(folder.path(), "enforce", &[("plan.memory", "on")]);
    assert_eq!(first_step(&elastane).memory_bytes, Some(GB));
}

#[test]
fn nothing_is_planned_that_the_agent_cannot_limit() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), &[1.0]);
    let elastane = open(folder.path(), "enforce");
    start(&elastane);
    let unable =
        Report { can_limit: CanLimit::default(), ..unencoded_report(1, &[("a", 1.0, GB)]) };
    let body = encode(&unable).unwrap();
    let reply = elastane.report(NODE, VERSION, &body, START_MS).unwrap();
    assert_eq!(decode::<Reply>(VERSION, &reply).unwrap().plans, []);
}

#[test]
fn observe_plans_nothing() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), &[1.0]);
    let elastane = open(folder.path(), "observe");
    start(&elastane);
    assert_eq!(reply(&elastane, 1, START_MS, &[("a", GB)]).plans, []);
}

#[test]
fn what_waits_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    assert_eq!(admitted(&elastane), 2, "3 GB each by the request");
    let status: serde_json::Value = serde_json::from_str(&elastane.status(START_MS)).unwrap();
    assert_eq!(status["refused_commits"], 1);
}

#[test]
fn fit_peaks_says_whether_peaks_may_meet() {
    let folder = tempfile::tempdir().unwrap();
    // 1.5 cores of 4, and then a quarter of that.
    learn(folder.path(), &[1.5]);
    let of_policy = |policy: &str, peaks: Option<&str>| {
        let peaks = peaks.map(|peaks| ("fit.peaks", peaks));
        let settings: Vec<_> = [("policy", policy)].into_iter().chain(peaks).collect();
        let elastane = open_with(folder.path(), "enforce", &settings);
        let admitted = admitted(&elastane);
        elastane.close();
        admitted
    };
    for policy in ["elastane", "minfrag"] {
        assert_eq!(of_policy(policy, Some("strict")), 2, "{policy}");
        assert_eq!(of_policy(policy, Some("soft")), 3, "{policy}");
    }
    assert_eq!(of_policy("elastane", None), 3, "soft is its own");
    assert_eq!(of_policy("minfrag", None), 2, "the papers' are strict");
}

#[test]
fn settings_act_while_the_core_runs() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), &[1.0]);
    let elastane = open(folder.path(), "observe");
    start(&elastane);
    let planned = |sequence| reply(&elastane, sequence, START_MS, &[("a", GB)]).plans;
    assert_eq!(planned(1), [], "observe");

    let apply_settings =
        |mode, more| elastane.apply_settings(settings(folder.path(), mode, more)).unwrap();
    apply_settings("enforce", &[]);
    let [plan] = &planned(2)[..] else { panic!("enforce plans limits") };
    assert_eq!(plan.steps[0].limits.cpu_cap_cores, None);
    apply_settings("enforce", &[("plan.cpu.cap-ratio", "3"), ("plan.valid-for-ms", "9000")]);
    let reply = reply(&elastane, 3, START_MS, &[("a", GB)]);
    assert_eq!(reply.plans[0].steps[0].limits.cpu_cap_cores, Some(3.0));
    assert_eq!(reply.valid_for_ms, 9_000);
    apply_settings("observe", &[]);
    assert_eq!(planned(4), [], "observe again");
}

/// The order in which a wide and short application and a narrow and long one go to an idle node.
fn order(folder: &Path, settings: &[(&str, &str)]) -> [&'static str; 2] {
    let elastane = open_with(folder, "enforce", settings);
    let node = register(&elastane);
    reply(&elastane, 0, START_MS, &[]);
    let wide = waiting(&elastane, "application_1_0098", "wide", 1, 1);
    waiting(&elastane, "application_1_0099", "narrow", 1, 1);
    let named = elastane.round(node, free(), START_MS).unwrap();
    assert_eq!(named.len(), 2);
    elastane.close();
    if named[0] == wide { ["wide", "narrow"] } else { ["narrow", "wide"] }
}

#[test]
fn elastane_is_the_default_and_placement_favor_says_what_it_makes_short() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("wide", &[2.0; 4]), ("narrow", &[1.0; 40])]);
    let least_first = ["narrow", "wide"];
    for favor in ["makespan", "balanced"] {
        let order = order(folder.path(), &[("placement.favor", favor)]);
        assert_eq!(order, least_first, "{favor}");
    }
    let completion = [("placement.favor", "completion")];
    assert_eq!(order(folder.path(), &completion), ["wide", "narrow"]);
    assert_eq!(order(folder.path(), &[]), least_first);
    let minfrag = [("policy", "minfrag")];
    assert_eq!(order(folder.path(), &minfrag), ["wide", "narrow"]);
}

#[test]
fn below_the_least_confidence_the_request_stands() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), &[0.25]);
    let elastane = open_with(folder.path(), "enforce", &[("profile.least-confidence", "0.6")]);
    assert_eq!(first_step(&elastane).cpu_weight_cores, Some(4.0), "the request's");
}

#[test]
fn an_application_is_in_observe_by_its_tag_or_its_queue_and_is_planned_by_its_request() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("nightly", &[0.5])]);
    let elastane = open_with(folder.path(), "enforce", &[]);
    let node = register(&elastane);
    let place = |container: &str, id: &str, tags: &[&str]| {
        let tags = tags.iter().map(ToString::to_string).collect();
        let submission = Submission { tags, ..named_submission(id, "nightly") };
        let application = elastane.application_added(&submission, START_MS);
        assert!(commit(&elastane, container, application, node, START_MS));
    };
    place("plain", "application_2_0001", &["elastane.mode=enforce"]);
    place("tagged", "application_2_0002", &["elastane.mode=observe"]);
    let by_queue = [("mode.queue.root", "observe"), ("mode.queue.root.other", "enforce")];
    elastane.apply_settings(settings(folder.path(), "enforce", &by_queue)).unwrap();
    place("by-queue", "application_2_0003", &["elastane.mode=enforce"]);
    elastane.close();

    let records = journal(folder.path());
    let is_foreseen = |container: &str| {
        let placed = records.iter().filter(|it| it["kind"] == "placed");
        placed.filter(|it| it["container"] == container).any(|it| it["profile"].is_string())
    };
    assert!(is_foreseen("plain"));
    assert!(!is_foreseen("tagged"));
    assert!(!is_foreseen("by-queue"));
}
