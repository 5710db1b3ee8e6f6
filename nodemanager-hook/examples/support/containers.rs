//! Process trees in the place of YARN's containers.

use std::{
    fs,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

use elastane_protocol::RunningContainer;
use nix::{sys::signal::Signal, sys::signal::killpg, unistd::Pid};

use super::Outcome;

/// Allocates a little once a second.
const JAVA: &str = "\
public class Heap {
  public static void main(String[] arguments) throws Exception {
    while (true) {
      byte[] garbage = new byte[1 << 16];
      garbage[garbage.length - 1] = 1;
      Thread.sleep(1000);
    }
  }
}
";

/// The folder of the JVMs' compiled class.
pub struct Heap(tempfile::TempDir);

impl Heap {
    pub fn compile() -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("Heap.java");
        fs::write(&source, JAVA)?;
        let status = Command::new("javac").arg(&source).status()?;
        if !status.success() {
            return Err("javac failed".into());
        }
        Ok(Self(folder))
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }
}

/// A shell and the processes that it waits for. Dropping it ends them.
pub struct Container {
    pub id: String,
    child: Child,
}

impl Container {
    pub fn shell(number: u32) -> Outcome<Self> {
        Self::start(number, "sleep 600 & wait")
    }

    pub fn jvm(number: u32, heap: &Heap) -> Outcome<Self> {
        let folder = heap.folder().display();
        let options = "-Xms16m -Xmx16m -XX:+UseSerialGC -XX:TieredStopAtLevel=1";
        Self::start(number, &format!("java {options} -cp {folder} Heap & wait"))
    }

    /// Three processes that each run a command beside the shell.
    pub fn of_three(number: u32, command: &str) -> Outcome<Self> {
        Self::start(number, &format!("{command} & {command} & {command} & wait"))
    }

    fn start(number: u32, script: &str) -> Outcome<Self> {
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", script]).stdin(Stdio::null());
        Ok(Self {
            id: format!("container_e17_1410901177871_0001_01_{number:06}"),
            child: shell.process_group(0).spawn()?,
        })
    }

    pub fn running(&self) -> RunningContainer {
        RunningContainer {
            container: self.id.clone(),
            pid: self.child.id(),
            request_memory_bytes: 64 << 20,
        }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = self.child.wait();
    }
}
