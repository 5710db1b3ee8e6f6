use std::fs;

use super::*;
use crate::actuators::{self, LimitFile};

fn change() -> Change {
    Change {
        group: "/cpu/elastane/container_1_1_1_1".into(),
        file: LimitFile::CpuQuota,
        value: actuators::Value::AtMost(50_000),
    }
}

fn limits() -> Limits {
    Limits { cpu_weight_cores: Some(1.5), cpu_cap_cores: Some(0.5), ..Limits::default() }
}

#[test]
fn a_record_is_one_line_of_json_with_its_reason() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut audit = Audit::open(Some(&path), Troubles::default()).unwrap();
    let id = "container_1_1_1_1".parse().unwrap();
    let (plan, change) = (limits(), change());
    audit.changed(&id, Reason::PlanStep, &plan, &[&change]);
    let shortfall = Shortfall { resident_bytes: 9, short_bytes: 5, available_bytes: 1 };
    audit.record(&id, Reason::Named, shortfall);
    audit.killed(&id, 2, 1, shortfall);
    audit.end();
    let text = fs::read_to_string(&path).unwrap();
    let entries: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[0]["reason"], "plan_step");
    assert_eq!(entries[0]["plan"]["cpu_cap_cores"], 0.5);
    assert!(entries[0]["plan"]["memory_bytes"].is_null());
    let written =
        serde_json::json!(["/cpu/elastane/container_1_1_1_1", "cpu.cfs_quota_us", "50000"]);
    assert_eq!(entries[0]["written"][0], written);
    assert_eq!(entries[1]["reason"], "named");
    assert_eq!(entries[1]["resident_bytes"], 9);
    assert_eq!(entries[2]["reason"], "killed");
    assert_eq!((&entries[2]["processes"], &entries[2]["left"]), (&2.into(), &1.into()));
    assert_eq!(entries[2]["short_bytes"], 5);
}
