//! `elastane what-if`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;

use common::{elastane, text};
use serde_json::Value;

const FIGURE_6: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../sim/tests/data/minfrag-figure6.scenario.json");

#[test]
fn figure_6_is_answered_as_the_paper_does() {
    let answer = elastane(&["what-if", "--policy", "minfrag", FIGURE_6]).json();
    assert_eq!(answer["policy"], "minfrag");
    let beat = &answer["heartbeats"][0];
    assert_eq!((&beat["node"], &beat["now_ms"]), (&"node-1".into(), &0.into()));
    assert_eq!(beat["placed"], "2");
    let scores: Vec<f64> = beat["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|candidate| candidate["score"].as_f64().unwrap())
        .collect();
    assert!((scores[0] - 53. / 112.).abs() < 1e-12 && (scores[1] - 13. / 32.).abs() < 1e-12);
    assert_eq!(beat["candidates"][0]["detail"]["horizon_ms"], 21_000);
    assert_eq!(answer["heartbeats"].as_array().unwrap().len(), 1);
}

#[test]
fn all_goes_on_until_nothing_fits() {
    let answer = elastane(&["what-if", "--policy", "minfrag", "--all", FIGURE_6]).json();
    assert_eq!(answer["heartbeats"][1]["placed"], Value::Null);
    let candidate = &answer["heartbeats"][1]["candidates"][0];
    assert_eq!((&candidate["fits"], &candidate["score"]), (&false.into(), &Value::Null));
}

#[test]
fn a_margin_makes_figure_6_too_tight() {
    let arguments = ["what-if", "--policy", "minfrag", "--margin", "0.1", FIGURE_6];
    let answer = elastane(&arguments).json();
    assert_eq!(answer["heartbeats"][0]["placed"], Value::Null);
}

#[test]
fn a_margin_that_is_none_is_wrong_usage() {
    for margin in ["-0.1", "nan", "much"] {
        let margin = format!("--margin={margin}");
        let ended = elastane(&["what-if", "--policy", "minfrag", &margin, FIGURE_6]);
        assert_eq!(ended.code, Some(2));
        assert!(ended.stderr.contains("a number of at least 0 is allowed"), "{}", ended.stderr);
    }
}

#[test]
fn bad_input_is_one_line_with_the_file_the_place_and_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scenario.json");
    let scenario = fs::read_to_string(FIGURE_6).unwrap();
    fs::write(&file, scenario.replacen("[4, 4, 6,", "[4, 4, -6,", 1)).unwrap();
    assert_eq!(
        elastane(&["what-if", "--policy", "minfrag", text(&file)]).refused(),
        format!(
            "elastane: {}: nodes[0].running[0].demand.cpu_cores[2]: -6, \
             finite and at least 0 is allowed\n",
            file.display()
        )
    );
    let missing = folder.path().join("missing.json");
    let refused = elastane(&["what-if", "--policy", "minfrag", text(&missing)]).refused();
    assert!(refused.contains("missing.json: No such file"), "{refused}");
}

#[test]
fn every_policy_answers_and_help_names_it() {
    let help = elastane(&["what-if", "--help"]).printed();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for policy in elastane_core::policy::names() {
        let answer = elastane(&["what-if", "--policy", policy, "--all", FIGURE_6]).json();
        assert_eq!(answer["policy"], policy);
        assert_eq!(answer["heartbeats"][0]["node"], "node-1");
    }
    let names = elastane_core::policy::names().join(", ");
    assert!(help.contains(&names), "{names}\nis not in\n{help}");
}

#[test]
fn trc_adds_figure_6_up() {
    let answer = elastane(&["what-if", "--policy", "trc", FIGURE_6]).json();
    let beat = &answer["heartbeats"][0];
    assert_eq!(beat["placed"], "2");
    let score = |at: usize| beat["candidates"][at]["score"].as_f64().unwrap();
    let first = 53. / 112. + 165. / 448. + 3. / 70. + 6. / 35.;
    let second = 13. / 32. + 43. / 128. + 1. / 10. + 1. / 20.;
    assert!((score(0) - first).abs() < 1e-12 && (score(1) - second).abs() < 1e-12);
}

#[test]
fn a_policy_that_is_not_there_is_refused_with_those_that_are() {
    let names = elastane_core::policy::names().join(", ");
    assert_eq!(
        elastane(&["what-if", "--policy", "fairest", FIGURE_6]).refused(),
        format!("elastane: policy fairest is unknown; the policies are {names}\n")
    );
}
