//! The process of an agent: a child of the test, or the main process of a systemd unit.

use std::{
    env, fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
    sync::atomic::{AtomicU32, Ordering},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// With this variable set to 1, agents run as units, with the sandbox of `elastane-agent.service`.
const AS_UNITS: &str = "ELASTANE_TEST_UNITS";

const UNIT_FILES: &str = "/run/systemd/system";

/// The file in a test's directory in which a unit says how its main process ended.
const ENDED: &str = "ended";

/// The raw status of a unit whose main process never ran.
const NEVER_RAN: i32 = 255 << 8;

/// Whether agents run as units where the test does not ask for something else.
pub fn runs_as_unit() -> bool {
    if env::var(AS_UNITS).is_err() {
        return false;
    }
    let kernel_line = fs::read_to_string("/proc/cmdline").unwrap();
    assert!(
        kernel_line.contains("elastane-test.target"),
        "{AS_UNITS} is for the guest of `make test-systemd`"
    );
    true
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

    pub fn signal(&self, signal: Signal) {
        match self {
            Self::Child(child) => kill(Pid::from_raw(child.id() as i32), signal).unwrap(),
            Self::Unit(unit) => {
                let signal = format!("--signal={signal}");
                unit.systemctl("kill", &["--kill-who=main", &signal]);
            }
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
        self.signal(Signal::SIGKILL);
        if let Self::Child(child) = self {
            let _ = child.wait();
        }
    }
}

/// The agent's unit with the configuration of one test. systemd does not start it again, and undoes nothing after
/// it: a test does both itself.
#[derive(Debug)]
pub struct Unit {
    name: String,
    /// 0 if it did not start.
    main_process: u32,
    directory: PathBuf,
}

impl Unit {
    pub fn start(binary: &str, config: &Path, directory: &Path) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("elastane-agent-test-{}-{number}.service", std::process::id());
        let (config, own) = (config.display(), directory.display());
        let file = include_str!("../../elastane-agent.service");
        let of_the_test = format!(
            "\n[Unit]\nCollectMode=inactive-or-failed\n[Service]\n\
             BindReadOnlyPaths={binary}:/usr/local/bin/elastane-agent {config}:/etc/elastane/agent.toml\n\
             ReadWritePaths={own}\n\
             StandardError=append:{own}/agent.log\n\
             Restart=no\n\
             WatchdogSec=10\n\
             TimeoutAbortSec=3\n\
             ExecStopPost=\n\
             ExecStopPost=/bin/sh -c 'echo $$EXIT_CODE $$EXIT_STATUS >{own}/{ENDED}'\n"
        );
        fs::create_dir_all(UNIT_FILES).unwrap();
        fs::write(Path::new(UNIT_FILES).join(&name), file.to_owned() + &of_the_test).unwrap();
        let _ = fs::remove_file(directory.join(ENDED));
        let mut unit = Self { name, main_process: 0, directory: directory.into() };
        systemctl(&["daemon-reload"]);
        unit.systemctl("start", &[]);
        unit.main_process = unit.main_process();
        if unit.main_process > 0 {
            let cgroup = fs::read_to_string(format!("/proc/{}/cgroup", unit.main_process));
            // It may have ended again.
            assert!(cgroup.is_err() || cgroup.unwrap().contains(&unit.name));
        }
        unit
    }

    fn systemctl(&self, command: &str, options: &[&str]) {
        systemctl(&[&[command], options, &[&*self.name]].concat());
    }

    fn main_process(&self) -> u32 {
        let mut show = Command::new("systemctl");
        let shown = show.args(["show", "--value", "--property=MainPID", &self.name]).output();
        String::from_utf8(shown.unwrap().stdout).unwrap().trim().parse().unwrap()
    }

    fn ended(&self) -> Option<ExitStatus> {
        let text = fs::read_to_string(self.directory.join(ENDED)).ok()?;
        let raw = match text.trim().split_once(' ') {
            // The shell has made the file and not written it yet.
            None if text.is_empty() => return None,
            None => NEVER_RAN,
            Some(("exited", code)) => code.parse::<i32>().unwrap() << 8,
            Some((_, signal)) => format!("SIG{signal}").parse::<Signal>().unwrap() as i32,
        };
        Some(ExitStatus::from_raw(raw))
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        self.systemctl("stop", &[]);
        let _ = fs::remove_file(Path::new(UNIT_FILES).join(&self.name));
        systemctl(&["daemon-reload"]);
        eprint!("{}", fs::read_to_string(self.directory.join("agent.log")).unwrap_or_default());
    }
}

/// A unit that fails to start is seen by how it ended.
fn systemctl(arguments: &[&str]) {
    Command::new("systemctl").arg("--quiet").args(arguments).status().unwrap();
}
