use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use super::*;
use crate::actuators::read_text;

const SHARES: LimitFile = LimitFile::CpuShares;

#[test]
fn a_value_that_the_file_holds_is_not_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let group = directory.path();
    let path = group.join("cpu.shares");
    fs::write(&path, "1024\n").unwrap();
    let mut files = KernelFiles::default();
    assert!(!files.write(group, SHARES, Value::Weight(1024)).unwrap());
    assert!(files.write(group, SHARES, Value::Weight(2048)).unwrap());
    fs::write(&path, "9999").unwrap();
    assert!(!files.write(group, SHARES, Value::Weight(2048)).unwrap());
    assert_eq!(read_text(&path).unwrap(), "9999");
    files.forget(group);
    assert!(files.write(group, SHARES, Value::Weight(2048)).unwrap());
}

#[test]
fn a_memory_limit_that_the_kernel_has_rounded_is_not_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let group = directory.path();
    let (file, page) = (LimitFile::MemoryHigh, 4096);
    fs::write(group.join(file.name()), (100 * page).to_string()).unwrap();
    let mut files = KernelFiles::default();
    assert!(!files.write(group, file, Value::AtMost(100 * page + 5)).unwrap());
    assert!(files.write(group, file, Value::AtMost(200 * page)).unwrap());
}

#[test]
fn a_group_made_again_under_its_old_name_is_written() {
    let root = Path::new("/sys/fs/cgroup/cpu");
    if !nix::unistd::geteuid().is_root() || !root.join("cpu.shares").exists() {
        return;
    }
    let group = root.join(format!("elastane-test-again-{}", std::process::id()));
    let mut files = KernelFiles::default();
    for _ in 0..2 {
        fs::create_dir(&group).unwrap();
        // The first group's file is still open: nobody told the agent of its removal.
        for shares in [512, 256] {
            assert!(files.write(&group, SHARES, Value::Weight(shares)).unwrap());
            let held = read_limit(&group, SHARES).unwrap();
            assert_eq!(held, Value::Weight(shares));
        }
        fs::remove_dir(&group).unwrap();
    }
    let error = files.write(&group, SHARES, Value::Weight(512)).unwrap_err();
    assert!(error.is_gone(), "{error}");
}

#[test]
fn an_error_names_path_and_reason_and_the_write_is_tried_again() {
    let directory = tempfile::tempdir().unwrap();
    let group = directory.path();
    let mut files = KernelFiles::default();
    let error = files.write(group, SHARES, Value::Weight(2)).unwrap_err();
    assert!(error.is_gone());
    let text = error.to_string();
    assert!(text.starts_with("cannot read /"), "{text}");
    assert!(text.ends_with("cpu.shares: No such file or directory (os error 2)"), "{text}");
    fs::write(group.join("cpu.shares"), "1024").unwrap();
    assert!(files.write(group, SHARES, Value::Weight(2)).unwrap());
}

#[test]
fn a_group_is_not_tightened_when_its_child_could_not_be() {
    let directory = tempfile::tempdir().unwrap();
    let outer = directory.path();
    fs::write(outer.join("memory.max"), "max").unwrap();
    let change = |group: &Path| Change {
        group: group.into(),
        file: LimitFile::MemoryMax,
        value: Value::AtMost(4096),
    };
    let changes = [change(outer), change(&outer.join("gone"))];
    let outcomes = KernelFiles::default().write_all(&[&changes[0], &changes[1]]);
    assert!(outcomes.iter().all(Result::is_err));
    assert_eq!(read_text(&outer.join("memory.max")).unwrap(), "max");
}

#[test]
fn a_group_is_not_loosened_when_its_parent_could_not_be() {
    let directory = tempfile::tempdir().unwrap();
    let (outer, inner) = (directory.path(), directory.path().join("inner"));
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("memory.max"), "4096").unwrap();
    // A directory can be neither read nor written as a file.
    fs::create_dir(outer.join("memory.max")).unwrap();
    let change = |group: &Path| Change {
        group: group.into(),
        file: LimitFile::MemoryMax,
        value: Value::Unlimited,
    };
    let changes = [change(&inner), change(outer)];
    let changes = [&changes[0], &changes[1]];
    let mut files = KernelFiles::default();
    let outcomes = files.write_all(&changes);
    let reason = outcomes[0].as_ref().unwrap_err().to_string();
    assert!(reason.ends_with("its parent could not be loosened"), "{reason}");
    assert!(outcomes[1].is_err());
    assert_eq!(read_text(&inner.join("memory.max")).unwrap(), "4096");
    fs::remove_dir(outer.join("memory.max")).unwrap();
    fs::write(outer.join("memory.max"), "4096").unwrap();
    assert!(files.write_all(&changes).iter().all(Result::is_ok));
    assert_eq!(read_text(&inner.join("memory.max")).unwrap(), "max");
}

#[test]
fn every_change_of_a_removed_group_says_that_it_is_gone() {
    let change = |group: &str| Change {
        group: group.into(),
        file: LimitFile::MemoryMax,
        value: Value::Unlimited,
    };
    let changes = [change("/nowhere/outer"), change("/nowhere/outer/inner")];
    let outcomes = KernelFiles::default().write_all(&[&changes[0], &changes[1]]);
    for outcome in outcomes {
        assert!(outcome.unwrap_err().is_gone());
    }
}

/// On a real group, since only the kernel refuses.
#[test]
fn a_memory_limit_that_version_1_refuses_is_an_error_and_kills_nothing() {
    let root = Path::new("/sys/fs/cgroup/memory");
    if !nix::unistd::geteuid().is_root() || !root.join("memory.limit_in_bytes").exists() {
        return;
    }
    let group = root.join(format!("elastane-test-unit-{}", std::process::id()));
    fs::create_dir(&group).unwrap();
    let script = format!(
        "echo $$ > {}/cgroup.procs; exec python3 -c 'import time\n\
         held = bytearray(64 << 20)\nprint(1, flush=True)\ntime.sleep(60)'",
        group.display()
    );
    let mut holder =
        Command::new("sh").args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let stdout = holder.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let mut files = KernelFiles::default();
    let limit = |mib: u64| Value::AtMost(mib << 20);
    let mut write = |mib| files.write(&group, LimitFile::MemoryLimit, limit(mib));
    let error = write(16).unwrap_err();
    assert_eq!(error.errno(), Errno::EBUSY, "{error}");
    assert!(write(256).unwrap(), "the failed value counts as written");
    assert!(holder.try_wait().unwrap().is_none(), "it was killed");
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(files.remove_group(&group).unwrap());
}

#[test]
fn removing_a_group_that_is_not_empty_is_no_error() {
    let directory = tempfile::tempdir().unwrap();
    let group = directory.path().join("group");
    let mut files = KernelFiles::default();
    make_group(&group).unwrap();
    assert!(group.is_dir());
    make_group(&group).unwrap();
    fs::create_dir(group.join("inner")).unwrap();
    assert!(!files.remove_group(&group).unwrap());
    fs::remove_dir(group.join("inner")).unwrap();
    assert!(files.remove_group(&group).unwrap());
    assert!(files.remove_group(&group).unwrap());
}
