//! Writes to groups of the container executor, which get their values back.

use std::{thread, time::Duration};

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);
const FILES: [&str; 2] = ["memory.max", "memory.high"];

/// A container of the executor whose lower limit waits for a thread.
fn bench_with_queued_limit() -> (Bench, Stuck) {
    let mut bench = bench_of(Owner::ContainerExecutor);
    let stuck = Stuck::all_threads_of(&mut bench);
    bench.limit(160);
    assert_eq!(bench.max_and_high(), [800 * MIB, wake_at(800 * MIB)], "a thread is to write it");
    (bench, stuck)
}

fn texts(bench: &Bench) -> [String; 2] {
    FILES.map(|file| bench.text(file))
}

#[test]
fn a_queued_limit_is_followed_by_the_former_value_also_after_other_usage() {
    let (mut bench, stuck) = bench_with_queued_limit();
    let queued = bench.in_force().unwrap();
    for charged_mib in [500, 400] {
        bench.set("memory.current", &(charged_mib * MIB).to_string());
        bench.limit(160);
    }
    assert_eq!(bench.in_force(), Some(queued));
    stuck.release(&mut bench);
    assert_eq!(bench.max_and_high()[1], wake_at(queued));
    bench.lift();
    assert_eq!(texts(&bench), ["max", "max"]);
    assert_eq!(bench.actuator.journal.all_former().count(), 0);
}

#[test]
fn the_journal_keeps_a_queued_limit_while_other_limits_are_written() {
    let (mut bench, stuck) = bench_with_queued_limit();
    let queued = Value::AtMost(wake_at(bench.in_force().unwrap()));
    for mib in [700, 750, 780] {
        bench.limit(mib);
        assert_eq!(bench.in_force(), Some(mib * MIB));
    }
    let group = bench.directory.path();
    let former = bench.actuator.journal.former(group, LimitFile::MemoryHigh).unwrap();
    for own in [queued, Value::AtMost(wake_at(780 * MIB))] {
        assert!(former.is_own(own), "{own:?}");
    }
    stuck.release(&mut bench);
}

#[test]
fn a_value_of_yarns_outlasts_a_queued_limit_whose_plan_has_ended() {
    let (mut bench, stuck) = bench_with_queued_limit();
    let resized = (500 * MIB).to_string();
    bench.set("memory.high", &resized);
    bench.lift();
    assert_eq!(texts(&bench), ["max".into(), resized.clone()]);
    stuck.release(&mut bench);
    assert_eq!(texts(&bench), ["max".into(), resized]);
    // What YARN set is no limit of the agent's.
    let Bench { directory, id, container, actuator } = &mut bench;
    assert!(actuator.lowerings.ended.contains(directory.path()));
    actuator.take_over_written(&mut Wanted::lifted(id, container, Reason::PlanEnded));
    assert_eq!(bench.in_force(), None);
}

/// YARN sets `memory.high`. A thread writes over it after the agent has read it, and ends before the agent puts the lifted
/// limit in force. All threads are stuck then. Returns the text that the thread wrote.
fn overwrite(bench: &mut Bench, stuck: Stuck, resized: &str) -> (String, Stuck) {
    let queued = wake_at(bench.in_force().unwrap()).to_string();
    bench.set("memory.high", resized);
    let Bench { id, container, actuator, .. } = bench;
    let wanted = Wanted::lifted(id, container, Reason::PlanEnded);
    let steps = actuator.steps(&wanted, &mut 0);
    let _readers = stuck.readers();
    bench.wait_for_text("memory.high", &queued);
    let (group, deadline) = (bench.directory.path(), Instant::now() + PATIENCE);
    let Some(open) = bench.actuator.lowerings.reclaims.open_of(group).cloned() else {
        panic!("nothing has collected the write");
    };
    while bench.actuator.lowerings.reclaims.ends_with_newest(&open) {
        assert!(Instant::now() < deadline, "the write does not end");
        thread::sleep(Duration::from_millis(1));
    }
    let again = Stuck::all_threads_of(bench);
    let Bench { id, container, actuator, .. } = bench;
    let wanted = Wanted::lifted(id, container, Reason::PlanEnded);
    actuator.put_in_force(vec![wanted], vec![steps]);
    (queued, again)
}

#[test]
fn a_value_of_yarns_outlasts_a_queued_limit_that_is_written_after_the_agent_has_read_the_file() {
    for (mib, is_lower) in [(500, true), (750, false)] {
        let (mut bench, stuck) = bench_with_queued_limit();
        bench.audit();
        let resized = (mib * MIB).to_string();
        let (queued, stuck) = overwrite(&mut bench, stuck, &resized);
        let now = if is_lower { &queued } else { &resized };
        assert_eq!(texts(&bench), ["max", now], "only a lower one waits for a thread");
        stuck.release(&mut bench);
        assert_eq!(texts(&bench), ["max", &resized]);
        assert_eq!(bench.actuator.journal.all_former().count(), 0);
        let audited = bench.audited();
        for text in [queued, resized] {
            assert!(audited.contains(&("memory.high".into(), text)), "{audited:?}");
        }
    }
}
