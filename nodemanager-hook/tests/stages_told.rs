//! A real agent reads how far applications have come from files in their containers' directories.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{
    fs,
    os::unix::fs::{chown, symlink},
    path::{Path, PathBuf},
    time::Duration,
};

use common::{Agent, Parent, Tree, wait_until};
use elastane_protocol::{Report, StageProgress};
use nix::unistd::geteuid;
use tempfile::TempDir;

const NOBODY: u32 = 65534;
/// The report was made and read within this time. Shorter than a sample, with which the file's content is taken.
const REPORTED_WITHIN: Duration = Duration::from_millis(500);

/// A container whose directory and process belong to another user than the agent, where that is possible.
struct Job {
    tree: Tree,
    directory: TempDir,
}

impl Job {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().display();
        let script = if geteuid().is_root() {
            chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            let as_nobody = format!("setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups");
            format!("cd {path}; exec {as_nobody} sleep 600")
        } else {
            format!("cd {path}; exec sleep 600")
        };
        let tree = Tree::new(&script);
        let command = PathBuf::from(format!("/proc/{}/comm", tree.pid()));
        wait_until("the job runs", || fs::read_to_string(&command).unwrap() == "sleep\n");
        Self { tree, directory }
    }

    /// As the plugin does it: a temporary file that takes the place of the former one.
    fn tells(&self, stages: u32) {
        let text = format!(
            r#"{{"version":1,"stages_ended":{stages},"since_ms":1500,"part_ended":0.25,"part_begun":0.5}}"#
        );
        self.has_file(&text);
    }

    fn has_file(&self, text: &str) {
        let written = self.directory.path().join("written");
        fs::write(&written, text).unwrap();
        self.own(&written);
        fs::rename(written, self.file()).unwrap();
    }

    fn own(&self, path: &Path) {
        if geteuid().is_root() {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("elastane.progress")
    }
}

fn told(report: &Report, tree: &Tree) -> Option<StageProgress> {
    report.containers.iter().find(|one| one.container == tree.id)?.stages
}

fn stages_told(agent: &Agent, tree: &Tree) -> Option<u32> {
    told(&agent.report(), tree).map(|stages| stages.stages_ended)
}

#[test]
fn what_a_job_tells_is_in_each_report_and_what_it_may_not_tell_is_not() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let [teller, silent, linker] = [Job::new(), Job::new(), Job::new()];
    teller.tells(7);
    // A file of the agent's user, to which the job has no access.
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::copy(teller.file(), secret.path()).unwrap();
    symlink(secret.path(), linker.file()).unwrap();
    agent.runs(&[&teller.tree, &silent.tree, &linker.tree]);

    wait_until("it is told", || stages_told(&agent, &teller.tree) == Some(7));
    let report = agent.report();
    let first = told(&report, &teller.tree).unwrap();
    assert_eq!((first.part_ended, first.part_begun), (0.25, 0.5));
    // From the end of the stage to the writing 1.5 s, and from there to the report.
    let written = fs::metadata(teller.file()).unwrap().modified().unwrap();
    let most_ms = 1_500 + written.elapsed().unwrap().as_millis();
    let least_ms = most_ms - REPORTED_WITHIN.as_millis();
    assert!(
        (least_ms..=most_ms).contains(&first.since_ms.into()),
        "{first:?} {least_ms}..{most_ms}"
    );
    assert_eq!(told(&report, &silent.tree), None);
    assert_eq!(told(&report, &linker.tree), None);

    teller.tells(8);
    wait_until("the next stage is told", || stages_told(&agent, &teller.tree) == Some(8));
    teller.has_file("garbage");
    wait_until("garbage is not told", || stages_told(&agent, &teller.tree).is_none());
    let samples = agent.report().sequence;
    wait_until("two samples", || agent.report().sequence >= samples + 2);
}
