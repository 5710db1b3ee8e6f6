use std::fs;

use super::*;
use crate::agent::actuator::bench::Bench;

const PATIENCE: Duration = Duration::from_secs(20);

/// Wishes for processes of which no thread finds a JVM.
struct Asked {
    wishes: HeapWishes,
    bench: Bench,
    proc: tempfile::TempDir,
    now: Instant,
}

impl Asked {
    fn new() -> Self {
        let gone = |job: JvmJob| {
            let jvm = job.control.key();
            Done { jvm, result: Err(AttachError::Gone { pid: jvm.pid }.into()) }
        };
        let workers = Some(Workers::start("test", MAX_JOBS, gone).unwrap());
        let wishes = HeapWishes { workers, jvms: BTreeMap::new() };
        let proc = tempfile::tempdir().unwrap();
        Self { wishes, bench: Bench::new(), proc, now: Instant::now() }
    }

    fn want(&mut self, container: u32, pids: impl IntoIterator<Item = u32>) {
        let container = format!("container_1_1_1_{container}").parse().unwrap();
        for pid in pids {
            let files = self.proc.path().join(pid.to_string());
            fs::create_dir_all(&files).unwrap();
            let stat = format!("{pid} (java) S 1 1 1 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 1 0");
            fs::write(files.join("stat"), stat).unwrap();
            let control = Control::of_process(self.proc.path(), pid).unwrap();
            let wish = Wish::Shrink { heap_bytes: 1, used_bytes: 1 };
            self.wishes.want(&container, control, wish, Reason::PlanStep);
        }
    }

    /// Waits until the threads have ended what they have, a second later. Returns the JVMs that they have now.
    fn advance(&mut self) -> Vec<u32> {
        self.now += Duration::from_secs(1);
        self.wishes.advance(PATIENCE, &mut self.bench.actuator, self.now);
        let open = self.wishes.jvms.iter().filter(|(_, asked)| asked.open.is_some());
        open.map(|(key, _)| key.pid).collect()
    }
}

#[test]
fn the_jvms_of_one_container_leave_a_thread_to_those_of_another() {
    let mut asked = Asked::new();
    asked.want(1, 1..=5);
    asked.want(2, [6]);
    assert_eq!(asked.advance(), [1, 2, 6]);
    assert_eq!(asked.advance(), [3, 4]);
    assert_eq!(asked.advance(), [5]);
}

#[test]
fn the_jvm_that_has_waited_longest_is_the_next_one() {
    let mut asked = Asked::new();
    asked.want(1, 1..=4);
    assert_eq!(asked.advance(), [1, 2]);
    // They wait behind those that have waited before, and one that is asked again keeps its turn.
    asked.want(1, [1, 2, 4]);
    assert_eq!(asked.advance(), [3, 4]);
    assert_eq!(asked.advance(), [1, 2]);
}
