//! The log goes to standard error, which YARN keeps in its `.out` file.

use std::io::{Write, stderr};

use jiff::Timestamp;
use log::{LevelFilter, Log, Metadata, Record};

struct StderrLog;

static LOG: StderrLog = StderrLog;

/// A second call in a process changes nothing.
pub(crate) fn install() {
    if log::set_logger(&LOG).is_ok() {
        log::set_max_level(LevelFilter::Info);
    }
}

impl Log for StderrLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("elastane")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let now = Timestamp::now();
            let (level, message) = (record.level(), record.args());
            // The disk may be full. Unlike `eprintln`, this does not panic then: whoever logs goes on.
            let _ = writeln!(stderr().lock(), "{now:.3} {level} elastane: {message}");
        }
    }

    fn flush(&self) {}
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "helpers of tests")]

    use std::env::{current_exe, var_os};
    use std::fs::OpenOptions;
    use std::process::Command;

    use super::*;

    const IS_CHILD: &str = "ELASTANE_TEST_STDERR_LOG";

    #[test]
    fn a_full_disk_costs_the_log_and_not_the_thread_that_logs() {
        if var_os(IS_CHILD).is_some() {
            install();
            log::error!("nobody can read this");
            return;
        }
        let name = "stderr_log::tests::a_full_disk_costs_the_log_and_not_the_thread_that_logs";
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        // Otherwise the test's output is captured, and the full disk is not written to.
        let arguments = ["--exact", name, "--nocapture"];
        let mut child = Command::new(current_exe().unwrap());
        child.args(arguments).env(IS_CHILD, "").stderr(full);
        let output = child.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}
