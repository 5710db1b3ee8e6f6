//! The process of an agent: a child of the test, or the main process of a systemd unit.

use std::{
    env, fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
    sync::atomic::{AtomicU32, Ordering},
};

/// With this variable set to 1, agents run as units, with the sandbox of `elastane-agent.service`.
const AS_UNITS: &str = "ELASTANE_TEST_UNITS";

const UNIT_FILES: &str = "/run/systemd/system";

/// Whether agents run as units where the test does not ask for something else.
pub fn runs_as_unit() -> bool {
    env::var(AS_UNITS).is_ok_and(|value| value == "1")
}

#[derive(Debug)]
pub enum AgentProcess {
    Child(Child),
    Unit(Unit),
}

impl AgentProcess {
    pub fn id(&self) -> u32 {
        match self {
            Self::Child(child) => child.id(),
            Self::Unit(unit) => unit.main_process,
        }
    }

    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        match self {
            Self::Child(child) => child.try_wait().unwrap(),
            Self::Unit(unit) => unit.ended(),
        }
    }

    /// Kills an agent that does not end.
    pub fn kill(&mut self) {
        match self {
            Self::Child(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            Self::Unit(unit) => unit.systemctl("kill", &["--signal=KILL"]),
        }
    }
}

/// A copy of the agent's unit file, for the configuration of one test. systemd does not start it again, and
/// undoes nothing after it: a test does both itself.
#[derive(Debug)]
pub struct Unit {
    name: String,
    /// 0 if it did not start.
    main_process: u32,
    log: PathBuf,
}

impl Unit {
    pub fn start(binary: &str, config: &Path, directory: &Path) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("elastane-agent-test-{}-{number}.service", std::process::id());
        let file = include_str!("../../elastane-agent.service")
            .replace("/usr/local/bin/elastane-agent", binary)
            .replace("/etc/elastane/agent.toml", &config.display().to_string());
        let log = directory.join("agent.log");
        // The journal of a real agent is in its RuntimeDirectory, and its audit file in its LogsDirectory.
        let of_the_test = format!(
            "\n[Service]\nRestart=no\nExecStopPost=\nReadWritePaths={}\nStandardError=append:{}\n",
            directory.display(),
            log.display(),
        );
        fs::create_dir_all(UNIT_FILES).unwrap();
        fs::write(Path::new(UNIT_FILES).join(&name), file + &of_the_test).unwrap();
        let mut unit = Self { name, main_process: 0, log };
        systemctl(&["daemon-reload"]);
        unit.systemctl("start", &[]);
        unit.main_process = unit.property("MainPID").parse().unwrap();
        unit
    }

    fn systemctl(&self, command: &str, options: &[&str]) {
        let options = options.iter().copied();
        systemctl(
            &std::iter::once(command).chain(options).chain([&*self.name]).collect::<Vec<_>>(),
        );
    }

    fn property(&self, property: &str) -> String {
        let shown = Command::new("systemctl")
            .args(["show", "--value", "-p", property, &self.name])
            .output();
        String::from_utf8(shown.unwrap().stdout).unwrap().trim().to_owned()
    }

    fn ended(&self) -> Option<ExitStatus> {
        if !matches!(&*self.property("ActiveState"), "inactive" | "failed") {
            return None;
        }
        let status: i32 = self.property("ExecMainStatus").parse().unwrap();
        // CLD_EXITED of <signal.h>; else the status is a signal.
        let is_exit = self.property("ExecMainCode") == "1";
        Some(ExitStatus::from_raw(if is_exit { status << 8 } else { status }))
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        self.systemctl("stop", &[]);
        let _ = fs::remove_file(Path::new(UNIT_FILES).join(&self.name));
        eprint!("{}", fs::read_to_string(&self.log).unwrap_or_default());
    }
}

/// A unit that fails to start is seen by its state.
fn systemctl(arguments: &[&str]) {
    Command::new("systemctl").arg("--quiet").args(arguments).status().unwrap();
}
