//! What people ask about a node, containers, and the latest decisions.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{
    GB, NODE, START_MS, commit, learn_named, named_submission, open, register, reply, submission,
    unencoded_report,
};
use elastane_core::cluster::NodeId;
use elastane_protocol::{VERSION, encode};
use elastane_runtime::Elastane;
use serde_json::{Value, json};

const KNOWN: &str = "application_1_0080";
const MB: u64 = 1 << 20;

fn ask(elastane: &Elastane, question: &Value, now_ms: i64) -> Value {
    serde_json::from_str(&elastane.answer(&question.to_string(), now_ms).unwrap()).unwrap()
}

/// One container of an application that used 2 cores for 60 s, and a quarter of a GB.
fn with_a_container(elastane: &Elastane) -> NodeId {
    let node = register(elastane);
    reply(elastane, 0, START_MS, &[]);
    let known = elastane.application_added(&named_submission(KNOWN, "known"), START_MS);
    assert!(commit(elastane, "container_1", known, node, START_MS));
    node
}

#[test]
fn a_node_has_its_containers_with_plan_and_use() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("known", &[2.0; 20])]);
    let elastane = open(folder.path(), "enforce");
    with_a_container(&elastane);
    let now_ms = START_MS + 12_000;
    reply(&elastane, 1, now_ms - 2_000, &[("container_1", GB)]);

    let node = ask(&elastane, &json!({"about": "node", "node": NODE}), now_ms);

    assert_eq!(node["capacity"]["cpu_cores"], 4.0);
    let planned = node["planned"]["cpu_cores"].as_array().unwrap();
    assert_eq!((planned.len(), &planned[0]), (200, &json!(2.0)));
    assert_eq!(planned.last().unwrap(), 0.0);
    let container = &node["containers"][0];
    assert_eq!(container["container"], "container_1");
    assert_eq!(container["application"], KNOWN);
    assert_eq!(container["node"], NODE);
    assert_eq!(container["running_for_ms"], 12_000);
    assert!(container["profile"].as_str().unwrap().contains("known"), "{container}");
    assert_eq!(container["planned"]["cpu_cores"], 2.0);
    let ends_in_ms = container["ends_in_ms"].as_i64().unwrap();
    assert!((45_000..=48_000).contains(&ends_in_ms), "{ends_in_ms}");
    assert_eq!(container["measured"]["used"]["memory_bytes"], GB as f64);
    assert_eq!(container["measured"]["age_ms"], 2_000);
}

#[test]
fn what_was_measured_stays_until_there_are_newer_samples_or_the_node_goes() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    let node = with_a_container(&elastane);
    let measured = |now_ms| {
        let question = json!({"about": "containers", "containers": ["container_1"]});
        ask(&elastane, &question, now_ms)["containers"][0]["measured"].clone()
    };
    assert_eq!(measured(START_MS), Value::Null);
    reply(&elastane, 1, START_MS + 3_000, &[("container_1", GB)]);
    let mut without = common::unencoded_report(2, &[("container_1", 1.0, 2 * GB)]);
    without.containers[0].samples.clear();
    let without = elastane_protocol::encode(&without).unwrap();
    let version = elastane_protocol::VERSION;
    elastane.report(NODE, version, &without, START_MS + 4_000).unwrap();
    assert_eq!(measured(START_MS + 5_000)["age_ms"], 2_000);
    reply(&elastane, 3, START_MS + 6_000, &[("container_1", 2 * GB)]);
    assert_eq!(measured(START_MS + 6_000)["used"]["memory_bytes"], (2 * GB) as f64);

    elastane.node_removed(node);
    register(&elastane);
    let known = elastane.application_added(&submission("application_1_0081"), START_MS);
    assert!(commit(&elastane, "container_1", known, register(&elastane), START_MS));
    assert_eq!(measured(START_MS + 6_000), Value::Null);
}

#[test]
fn what_is_not_there_is_no_answer_and_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    with_a_container(&elastane);
    let node = json!({"about": "node", "node": "elsewhere:1"});
    assert_eq!(ask(&elastane, &node, START_MS), Value::Null);
    let containers = json!({"about": "containers", "containers": ["no", "container_1"]});
    let found = ask(&elastane, &containers, START_MS);
    assert_eq!(found["containers"].as_array().unwrap().len(), 1);
}

#[test]
fn a_question_that_cannot_be_read_names_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    let wrong =
        |question: Value| elastane.answer(&question.to_string(), 0).unwrap_err().to_string();
    assert!(wrong(json!({"about": "weather"})).contains("weather"));
    let unknown = wrong(json!({"about": "decisions", "limit": 1, "color": "red"}));
    assert!(unknown.contains("color"), "{unknown}");
}

#[test]
fn decisions_are_kept_whether_or_not_there_is_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = common::open_with(folder.path(), "enforce", &[("journal.file", "")]);
    with_a_container(&elastane);
    reply(&elastane, 1, START_MS, &[("container_1", GB)]);
    elastane.finished("container_1", START_MS + 1_000);

    let question = json!({"about": "decisions", "container": "container_1", "limit": 9});
    let found = ask(&elastane, &question, START_MS);

    let decisions = found["decisions"].as_array().unwrap();
    let kinds: Vec<_> = decisions.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["finished", "placed"]);
    assert!(decisions.iter().all(|it| it["application"] == KNOWN), "{found}");
    assert_eq!(decisions[0]["time_ms"], START_MS + 1_000);
}

#[test]
fn a_node_has_what_its_containers_used_lately_beside_their_plan_also_after_they_ended() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("known", &[2.0; 20])]);
    let elastane = open(folder.path(), "enforce");
    let history =
        |now_ms| ask(&elastane, &json!({"about": "node", "node": NODE}), now_ms)["history"].clone();
    register(&elastane);
    assert_eq!(history(START_MS), Value::Null);
    reply(&elastane, 0, START_MS, &[]);
    let known = elastane.application_added(&named_submission(KNOWN, "known"), START_MS);
    let node = register(&elastane);
    assert!(commit(&elastane, "container_1", known, node, START_MS + 5_000));
    for (sequence, after_s) in [(1, 20), (2, 25), (3, 40)] {
        let at_ms = START_MS + 1_000 * after_s;
        let mut report = unencoded_report(sequence, &[("container_1", 1.0, sequence * GB)]);
        let usage = &mut report.containers[0].samples[0].usage;
        usage.network_in_bytes_per_s = sequence * MB;
        usage.network_out_bytes_per_s = MB;
        usage.disk_write_bytes_per_s = 2 * sequence * MB;
        elastane.report(NODE, VERSION, &encode(&report).unwrap(), at_ms).unwrap();
    }

    let shown = history(START_MS + 41_000);

    assert_eq!(shown["age_ms"], json!([41_000, 21_000, 1_000]), "20 s apart");
    let container = &shown["containers"][0];
    assert_eq!(container["container"], "container_1");
    assert_eq!(container["memory_bytes"], json!([null, GB as f64, (3 * GB) as f64]));
    assert_eq!(container["cpu_cores"][0], Value::Null);
    assert!(container["cpu_cores"][2].is_number(), "{container}");
    assert_eq!(container["planned_cpu_cores"], json!([null, 2.0, 2.0]));
    let mb = |numbers: [u64; 2]| json!([null, (numbers[0] * MB) as f64, (numbers[1] * MB) as f64]);
    assert_eq!(container["network_bytes_per_s"], mb([2, 4]), "received and sent");
    assert_eq!(container["disk_bytes_per_s"], mb([2, 6]));
    for planned in ["planned_network_bytes_per_s", "planned_disk_bytes_per_s"] {
        assert_eq!(container[planned], json!([null, 0.0, 0.0]), "of runs without any");
    }
    elastane.finished("container_1", START_MS + 50_000);
    reply(&elastane, 4, START_MS + 60_000, &[]);
    let ended = history(START_MS + 60_000);
    assert_eq!(ended["containers"][0]["memory_bytes"][3], Value::Null);
    assert_eq!(ended["containers"][0]["memory_bytes"][2], (3 * GB) as f64);
    assert_eq!(ended["containers"][0]["planned_cpu_cores"][2], 2.0, "the plan of that time");
}

#[test]
fn a_nodes_history_has_only_containers_that_run_there() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("known", &[2.0; 20])]);
    let elastane = open(folder.path(), "enforce");
    let node = with_a_container(&elastane);
    let other = elastane.node_added("other:1", common::request(8));
    let known =
        elastane.application_added(&named_submission("application_1_0077", "known"), START_MS);
    assert!(commit(&elastane, "here", known, node, START_MS));
    assert!(commit(&elastane, "elsewhere", known, other, START_MS));
    let used = [("here", GB), ("elsewhere", GB), ("made-up", GB)];
    reply(&elastane, 2, START_MS + 40_000, &used);

    let answer = ask(&elastane, &json!({"about": "node", "node": NODE}), START_MS + 41_000);

    let containers = answer["history"]["containers"].as_array().unwrap();
    let shown: Vec<_> = containers.iter().map(|it| it["container"].as_str().unwrap()).collect();
    assert!(shown.contains(&"here"), "{shown:?}");
    assert!(!shown.contains(&"elsewhere") && !shown.contains(&"made-up"), "{shown:?}");
}

#[test]
fn the_plan_is_the_sum_of_the_nodes_with_the_label() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("known", &[2.0; 20])]);
    let elastane = open(folder.path(), "enforce");
    let node = with_a_container(&elastane);
    let other = elastane.node_added("other:1", common::request(4));
    elastane.node_labelled(other, "x");
    let plan = |question: Value| {
        let plan = ask(&elastane, &question, START_MS + 3_000);
        (plan["nodes"].clone(), plan["planned"]["cpu_cores"][0].clone())
    };

    assert_eq!(plan(json!({"about": "plan"})), (json!(2), json!(2.0)));
    assert_eq!(plan(json!({"about": "plan", "label": ""})), (json!(1), json!(2.0)));
    assert_eq!(plan(json!({"about": "plan", "label": "x"})), (json!(1), json!(0.0)));
    elastane.node_labelled(node, "x");
    assert_eq!(plan(json!({"about": "plan", "label": "x"})), (json!(2), json!(2.0)));
}

#[test]
fn profiles_are_shown_the_latest_used_first_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("one", &[1.0; 20]), ("known", &[2.0; 20])]);
    let elastane = open(folder.path(), "enforce");
    elastane.application_added(&named_submission(KNOWN, "known"), START_MS + 86_400_000);
    let page = |offset: usize, limit: usize| {
        let question = json!({"about": "profiles", "offset": offset, "limit": limit});
        ask(&elastane, &question, START_MS)
    };

    let first = page(0, 1);

    assert_eq!(first["total"], 2);
    let profile = &first["profiles"][0];
    assert!(profile["profile"].as_str().unwrap().contains("known"), "{first}");
    assert_eq!(profile["used_ms"], START_MS + 86_400_000);
    assert!((59_000.0..61_000.0).contains(&profile["length_ms"].as_f64().unwrap()), "{first}");
    let kind = &profile["kinds"][0];
    assert_eq!((&kind["kind"], &kind["peak"]["cpu_cores"]), (&json!("executor"), &json!(2.0)));
    assert!((0.5..=1.0).contains(&kind["confidence"].as_f64().unwrap()), "{kind}");
    assert!(page(1, 5)["profiles"][0]["profile"].as_str().unwrap().contains("one"));
    assert_eq!(page(2, 5)["profiles"], json!([]));
}

#[test]
fn a_placement_tells_what_else_was_considered_for_the_node() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("small", &[0.5; 20]), ("large", &[2.0; 20])]);
    let elastane = open(folder.path(), "enforce");
    let node = register(&elastane);
    reply(&elastane, 0, START_MS, &[]);
    let [small, large] = ["small", "large"]
        .map(|name| common::waiting(&elastane, &format!("application_1_{name}"), name, 1, 3));
    let considered = |container: &str, application, committed_ms| {
        let order = elastane.round(node, common::free(), START_MS).unwrap();
        assert!(order.contains(&small) && order.contains(&large), "{order:?}");
        assert!(commit(&elastane, container, application, node, committed_ms));
        elastane.finished(container, committed_ms);
        let question = json!({"about": "decisions", "kind": "placed", "limit": 1});
        let decision = ask(&elastane, &question, START_MS)["decisions"][0].clone();
        (decision["score"].clone(), decision["considered"].as_array().unwrap().clone())
    };

    let (score, both) = considered("container_1", large, START_MS);

    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both.iter().all(|one| one["verdict"] == "may-go"), "{both:?}");
    let own = both.iter().find(|one| one["application"] == "application_1_large").unwrap();
    assert!((own["score"].as_f64().unwrap() - score.as_f64().unwrap()).abs() < 1e-6, "{own}");
    let scores: Vec<_> = both.iter().map(|one| one["score"].as_f64().unwrap()).collect();
    assert!(scores[0] <= scores[1], "the least first: {scores:?}");
    // Not of this round any more.
    assert_eq!(considered("container_2", small, START_MS + 5_000).1.len(), 0);
}
