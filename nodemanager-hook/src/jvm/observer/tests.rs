use std::{path::Path, sync::mpsc};

use super::*;

fn id(number: u32) -> ContainerId {
    format!("container_1_1_1_{number}").parse().unwrap()
}

fn key(pid: u32) -> ProcessKey {
    ProcessKey { pid, start_ticks: 1 }
}

/// Containers of one process each, none of which exists.
fn containers(numbers: &[u32]) -> Vec<ObservedContainer> {
    let container = |number: &u32| ObservedContainer {
        id: id(*number),
        processes: vec![key(4_000_000 + number)],
    };
    numbers.iter().map(container).collect()
}

fn observer() -> JvmObserver {
    JvmObserver::new(JvmHost::new(Path::new("/nowhere"), ""))
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "timed out: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// A thread that looks at container 7 until something is sent to it.
fn hold_up(observer: &JvmObserver) -> (mpsc::Sender<()>, thread::JoinHandle<bool>) {
    let shared = Arc::clone(&observer.shared);
    let number = shared.state.lock().thread;
    let (free, held) = mpsc::channel::<()>();
    let stuck =
        thread::spawn(move || shared.while_looking_at(number, &id(7), || held.recv()).is_none());
    wait_until("it looks", || observer.shared.state.lock().looking_at.is_some());
    (free, stuck)
}

#[test]
fn a_container_that_holds_up_its_observer_is_left_alone_for_a_while_and_others_are_not() {
    let observer = observer();
    observer.shared.state.lock().is_running = true;
    let (free, stuck) = hold_up(&observer);
    let now = Instant::now();
    assert_eq!(observer.look_at(containers(&[7, 8]), now), Vec::<String>::new());
    let troubles = observer.look_at(containers(&[7, 8]), now + STUCK_FROM);
    assert_eq!(troubles.len(), 1);
    assert!(troubles[0].starts_with("container_1_1_1_7: reading its JVMs "), "{troubles:?}");
    // The next thread has begun and knows the other one.
    wait_until("the other one is looked at", || observer.knows_all());
    let number = observer.shared.state.lock().thread;
    let look =
        |number_of: u32| observer.shared.while_looking_at(number, &id(number_of), || number_of);
    assert_eq!((look(7), look(8)), (None, Some(8)));
    assert_eq!(observer.shared.state.lock().stuck, 1);
    free.send(()).unwrap();
    assert!(stuck.join().unwrap(), "what the former thread saw is too old");
    assert_eq!(observer.shared.state.lock().stuck, 0);
    assert_eq!(observer.shared.state.lock().left_alone_until.len(), 1);
    observer.look_at(containers(&[7, 8]), now + STUCK_FROM + LEFT_ALONE_FOR);
    assert!(observer.shared.state.lock().left_alone_until.is_empty());
}

#[test]
fn a_new_process_is_unknown_until_it_was_looked_at() {
    let observer = observer();
    assert!(!observer.knows_all());
    observer.look_at(containers(&[1]), Instant::now());
    wait_until("it is looked at", || observer.knows_all());
    observer.shared.state.lock().is_stopped = true;
    observer.shared.changed.notify_all();
    observer.look_at(containers(&[1]), Instant::now());
    assert!(observer.knows_all());
    observer.look_at(containers(&[1, 2]), Instant::now());
    assert!(!observer.knows_all());
}

#[test]
fn what_cannot_be_seen_any_more_is_not_shown() {
    let observer = observer();
    let shared = &observer.shared;
    let seen = SeenJvm { heap: None, mapped_again_bytes: 0, control: None };
    shared.publish(0, key(1), Some(seen.clone()));
    assert!(observer.seen(key(1)).is_some());
    shared.publish(0, key(1), None);
    assert!(observer.seen(key(1)).is_none());
    // Of a thread that was given up.
    shared.publish(9, key(1), Some(seen.clone()));
    assert!(observer.seen(key(1)).is_none());
    shared.publish(0, key(1), Some(seen));
    observer.shared.state.lock().is_running = true;
    observer.look_at(containers(&[7]), Instant::now());
    assert!(observer.seen(key(1)).is_none(), "it has ended");
}

#[test]
fn the_mappings_of_a_process_are_read_again_once_it_has_mapped_something() {
    let directory = tempfile::tempdir().unwrap();
    let process = directory.path().join("7");
    std::fs::create_dir(&process).unwrap();
    let write = |name: &str, text: &str| std::fs::write(process.join(name), text).unwrap();
    write("stat", "7 (java) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0");
    write("status", "State:\tS\nUid:\t7\t7\t7\t7\nGid:\t7\t7\t7\t7\nNSpid:\t7\nSigCgt:\t0\n");
    write("statm", "900 10 5 1 0 3 0\n");
    write("maps", "7f00-7f10 r-xp 0 fe:00 1 /bin/sh\n");
    let host = JvmHost::new(directory.path(), "");
    let mut others = OtherProcesses::default();
    let mut is_jvm = || others.find_jvm(key(7), &host).unwrap().is_some();
    assert!(!is_jvm());
    write("maps", "7f00-7f10 r-xp 0 fe:00 1 /opt/lib/libjvm.so\n");
    assert!(!is_jvm(), "its mappings were read although it mapped nothing");
    write("statm", "901 10 5 1 0 3 0\n");
    assert!(is_jvm());
}
