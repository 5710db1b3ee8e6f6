//! What the scheduler's log says.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::{Mutex, Once};
use std::thread::{self, ThreadId};

/// By which thread, too: tests run at once, and not every message names a file.
struct Messages(Mutex<Vec<(ThreadId, String)>>);

static MESSAGES: Messages = Messages(Mutex::new(Vec::new()));

impl log::Log for Messages {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let message = (thread::current().id(), record.args().to_string());
        self.0.lock().unwrap().push(message);
    }

    fn flush(&self) {}
}

/// From now on warnings and errors are kept.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&MESSAGES).unwrap();
        log::set_max_level(log::LevelFilter::Warn);
    });
}

/// All that was said since, in the order in which it was.
pub fn messages() -> Vec<(ThreadId, String)> {
    MESSAGES.0.lock().unwrap().clone()
}
