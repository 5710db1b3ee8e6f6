use std::fs;

use nix::unistd::geteuid;

use super::*;

#[test]
fn entries_outlive_the_agent_and_the_file_is_removed_with_the_last_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agent.sock.journal");
    let (made, group) = (directory.path().join("made"), directory.path().join("made/c"));
    fs::create_dir(&made).unwrap();
    let mut journal = Journal::load(&path).unwrap();
    journal.remember_made(&made).unwrap();
    journal.remember_origin(&group, directory.path()).unwrap();
    let mut journal = Journal::load(&path).unwrap();
    assert_eq!(journal.made(), std::slice::from_ref(&made));
    assert_eq!(journal.origin(&group, Path::new("/")), Some(directory.path().to_owned()));
    journal.forget_origin(&group).unwrap();
    journal.forget_made(&made).unwrap();
    assert!(!path.exists());
}

#[test]
fn the_first_value_of_each_file_is_kept_until_it_is_restored() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let group = Path::new("/cgroup/yarn/container_1_1_1_1");
    let mut journal = Journal::load(&path).unwrap();
    for (file, value) in [
        (LimitFile::CpuMax, Value::AtMost(50_000)),
        (LimitFile::CpuMax, Value::AtMost(10_000)),
        (LimitFile::MemoryMax, Value::Unlimited),
    ] {
        let values = vec![(file, value)];
        journal.remember_former(group, values).unwrap();
    }
    let mut journal = Journal::load(&path).unwrap();
    let former = |journal: &Journal, file| journal.former(group, file).map(|former| former.value);
    let quota = former(&journal, LimitFile::CpuMax);
    assert_eq!(quota, Some(Value::AtMost(50_000)));
    journal.forget_former(group, LimitFile::CpuMax).unwrap();
    assert_eq!(former(&journal, LimitFile::CpuMax), None);
    let max = former(&journal, LimitFile::MemoryMax);
    assert_eq!(max, Some(Value::Unlimited));
    journal.forget_former(group, LimitFile::MemoryMax).unwrap();
    assert!(!path.exists());
}

#[test]
fn the_flags_of_a_jvm_are_kept_until_they_are_restored() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let container = "container_1_1_1_1".parse().unwrap();
    let key = |start_ticks| ProcessKey { pid: 7, start_ticks };
    let former = Former {
        pid: 7,
        start_ticks: 100,
        flags: [(crate::jvm::Flag::MinHeapFreeRatio, 40)].into(),
    };
    let mut journal = Journal::load(&path).unwrap();
    journal.remember_jvm(&container, former.clone()).unwrap();
    let mut journal = Journal::load(&path).unwrap();
    assert_eq!(journal.former_flags(key(100)), Some(&former));
    assert_eq!(journal.former_flags(key(101)), None);
    let jvms: Vec<_> = journal.jvms().collect();
    assert_eq!(jvms, [(&container, key(100))]);
    journal.forget_jvm(key(101)).unwrap();
    assert!(path.exists());
    journal.forget_jvm(key(100)).unwrap();
    assert!(!path.exists());
}

#[test]
fn an_origin_that_is_gone_is_the_nearest_group_above_it_but_never_the_root() {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = Journal::load(&directory.path().join("journal")).unwrap();
    let mount_point = directory.path().join("cpu");
    let (slice, service) = (mount_point.join("slice"), mount_point.join("slice/service"));
    fs::create_dir_all(&service).unwrap();
    let group = mount_point.join("elastane/container_1_1_1_1");
    let origin = |journal: &Journal| journal.origin(&group, &mount_point);
    assert_eq!(origin(&journal), None);
    journal.remember_origin(&group, &service).unwrap();
    assert_eq!(origin(&journal), Some(service.clone()));
    fs::remove_dir(&service).unwrap();
    assert_eq!(origin(&journal), Some(slice.clone()));
    fs::remove_dir(&slice).unwrap();
    assert_eq!(origin(&journal), None);
    // On a flat host the processes were there before.
    journal.remember_origin(&group, &mount_point).unwrap();
    assert_eq!(origin(&journal), Some(mount_point.clone()));
}

#[test]
fn a_journal_of_another_user_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    fs::write(&path, "{}").unwrap();
    let (path, uid) = if geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
        (path.as_path(), 65534)
    } else {
        (Path::new("/etc/passwd"), 0)
    };
    let error = Journal::load(path).unwrap_err().to_string();
    assert!(error.ends_with(&format!("it belongs to uid {uid}")), "{error}");
}

#[test]
fn a_damaged_journal_is_an_error_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    fs::write(&path, "{\"made\":\"/a\"}\n{\n").unwrap();
    let error = Journal::load(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("journal {}: line 2: ", path.display())), "{error}");
}

#[test]
fn an_entry_that_was_not_written_whole_is_no_entry() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let mut journal = Journal::load(&path).unwrap();
    for name in ["a", "b"] {
        journal.remember_made(&directory.path().join(name)).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 2);
    fs::write(&path, &text[..text.len() - 3]).unwrap();
    let mut journal = Journal::load(&path).unwrap();
    assert_eq!(journal.made(), [directory.path().join("a")]);
    // The next one is not glued to it.
    journal.remember_made(&directory.path().join("c")).unwrap();
    let made = ["a", "c"].map(|name| directory.path().join(name));
    assert_eq!(Journal::load(&path).unwrap().made(), made);
}

#[test]
fn a_journal_of_another_version_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    fs::write(&path, "{\"made\":[\"/a\"],\"origins\":{}}").unwrap();
    let error = Journal::load(&path).unwrap_err().to_string();
    assert!(error.ends_with("it is not of this version"), "{error}");
}

#[test]
fn an_entry_costs_one_line_and_the_file_does_not_grow_for_ever() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let group = |number: u32| directory.path().join(number.to_string());
    let lines = || fs::read_to_string(&path).unwrap().lines().count();
    let mut journal = Journal::load(&path).unwrap();
    for number in 0..50 {
        journal.remember_origin(&group(number), directory.path()).unwrap();
    }
    assert_eq!(lines(), 50);
    let mut most = 0;
    for _ in 0..2000 {
        journal.forget_origin(&group(7)).unwrap();
        journal.remember_origin(&group(7), directory.path()).unwrap();
        most = most.max(lines());
    }
    assert!((1000..1200).contains(&most), "{most}");
    assert_eq!(Journal::load(&path).unwrap().own_groups().count(), 50);
}

#[test]
fn the_agents_own_values_are_told_from_those_of_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let group = Path::new("/cgroup/yarn/container_1_1_1_1");
    let file = LimitFile::MemoryMax;
    let mut journal = Journal::load(&path).unwrap();
    // Without a former value there is nothing to put back.
    journal.remember_written(group, file, Value::AtMost(1)).unwrap();
    assert!(!path.exists());
    journal.remember_former(group, vec![(file, Value::Unlimited)]).unwrap();
    for mebibytes in [50, 100, 200, 300] {
        journal.remember_written(group, file, Value::AtMost((mebibytes << 20) + 5)).unwrap();
    }
    let journal = Journal::load(&path).unwrap();
    let former = journal.former(group, file).unwrap();
    // The kernel shows whole pages. An agent that was killed may not have written the last value, and a thread of the agent's
    // may have written the one before.
    for (mebibytes, is_own) in [(50, false), (100, true), (200, true), (300, true), (301, false)] {
        assert_eq!(former.is_own(Value::AtMost(mebibytes << 20)), is_own, "{mebibytes}");
    }
    assert!(!former.is_own(Value::Unlimited));
}
