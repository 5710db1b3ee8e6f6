//! How long `elastane import spark-eventlog` takes for a log of 10,000 tasks:
//! `cargo bench -p elastane-cli --bench import_speed`.
//!
//! Ends with exit code 1 where the slowest of three imports, each into a new depository, is not under its
//! bound.

#[path = "../tests/common/cluster_run.rs"]
mod cluster_run;

use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::process::Command;
use std::time::{Duration, Instant};

use cluster_run::ClusterRun;

const EXECUTORS: u32 = 10;
const TASKS_OF_EACH: u32 = 1_000;
const IMPORTS: u32 = 3;
const UNDER: Duration = Duration::from_secs(2);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("application_1795283369712_0001_1");
    let run = ClusterRun {
        number: 1,
        name: "Nightly",
        user: "alice",
        queue: "root.etl",
        script: "nightly.py",
        arguments: &["--full"],
        executors: EXECUTORS,
        tasks_of_each: TASKS_OF_EACH,
        task_ms: 700,
    };
    let mut file = BufWriter::new(File::create(&log)?);
    run.write_log(&mut file)?;
    drop(file);
    let log_mb = fs::metadata(&log)?.len() as f64 / 1e6;

    let mut slowest = Duration::ZERO;
    for number in 0..IMPORTS {
        let mut import = Command::new(env!("CARGO_BIN_EXE_elastane"));
        import.args(["import", "spark-eventlog"]).arg(&log);
        import.arg("--depository").arg(folder.path().join(format!("{number}.db")));
        let begin = Instant::now();
        let output = import.output()?;
        slowest = slowest.max(begin.elapsed());
        let printed = String::from_utf8_lossy(&output.stdout);
        let tasks = EXECUTORS * TASKS_OF_EACH;
        if !output.status.success() || !printed.contains(&format!(" {tasks} tasks ")) {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("not imported: {said}{printed}").into());
        }
    }
    let seconds = slowest.as_secs_f64();
    println!("10,000 tasks, {log_mb:.0} MB: imported in {seconds:.2} s, the slowest of {IMPORTS}");
    if slowest >= UNDER {
        return Err(format!("less than {UNDER:?} is allowed").into());
    }
    Ok(())
}
