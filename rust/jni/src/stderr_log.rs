//! The log goes to standard error, which YARN keeps in its `.out` file.

use std::time::{SystemTime, UNIX_EPOCH};

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
            let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let seconds = since_epoch.as_secs_f64();
            eprintln!("{seconds:.3} {} elastane: {}", record.level(), record.args());
        }
    }

    fn flush(&self) {}
}
