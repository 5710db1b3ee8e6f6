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
    let former = |journal: &Journal, file| journal.former_value(group, file);
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
    fs::write(&path, "{").unwrap();
    let error = Journal::load(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("journal {}: ", path.display())), "{error}");
}
