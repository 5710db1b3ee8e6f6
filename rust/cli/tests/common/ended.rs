//! A command that was run.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// What a command that succeeded printed.
    pub fn printed(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout
    }

    pub fn json(self) -> Value {
        serde_json::from_str(&self.printed()).unwrap()
    }

    /// The one line of a command that refused its input.
    pub fn refused(self) -> String {
        assert_eq!(self.code, Some(2), "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        self.stderr
    }
}

pub fn run(program: &str, arguments: &[&str]) -> Ended {
    // The servers of the tests are on loopback, which a configured proxy cannot reach.
    let output = Command::new(program).args(arguments).env("no_proxy", "*").output().unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
