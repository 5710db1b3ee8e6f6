//! A scenario for `simulate`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Two machines of 4 cores, and two applications of four executors each.
pub fn scenario() -> Value {
    let constant = |cpu: f64, disk: f64| {
        json!({
            "cpu_cores": vec![cpu; 10], "memory_bytes": vec![1e9; 10],
            "network_bytes_per_s": vec![0; 10], "disk_bytes_per_s": vec![disk; 10],
        })
    };
    let application = |name: &str, cpu, disk| {
        json!({
            "name": name, "executors": 4,
            "request": {"vcores": 2, "memory_bytes": 2_000_000_000_u64},
            "actual": constant(cpu, disk),
        })
    };
    json!({
        "machines": [{"count": 2, "capacity": {
            "cpu_cores": 4, "memory_bytes": 16e9,
            "network_bytes_per_s": 1e8, "disk_bytes_per_s": 1e8,
        }}],
        "applications": [application("cpu", 1.5, 0.0), application("disk", 0.2, 4e7)],
    })
}

pub fn written(folder: &Path, scenario: &Value) -> PathBuf {
    let file = folder.join("cluster.json");
    fs::write(&file, scenario.to_string()).unwrap();
    file
}
