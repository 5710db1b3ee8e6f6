//! Version 2: controllers enabled for the children of a group, in `cgroup.subtree_control`.
//!
//! A controller works in a group only if every ancestor enables it for its children. A group that
//! does may hold no processes itself; the root is exempt.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    KernelFileError, LimitError,
    file_access::{read_text, write_text},
};
use crate::{
    journal::{Journal, JournalError},
    restrictions::restriction_by,
};

const FILE: &str = "cgroup.subtree_control";

/// Enables a controller for the children of groups, given from the outermost one inwards.
///
/// # Errors
/// A group that holds processes, or that the agent may not change.
pub fn pass_on(
    controller: &str,
    groups: &[PathBuf],
    journal: &mut Journal,
) -> Result<(), LimitError> {
    for group in groups {
        let path = group.join(FILE);
        let enabled = read_text(&path)?;
        let mut enabled = enabled.split_ascii_whitespace();
        if enabled.any(|one| one == controller) {
            continue;
        }
        journal.remember_passed_on(group, controller)?;
        if let Err(error) = write_text(&path, &format!("+{controller}")) {
            journal.forget_passed_on(group, controller)?;
            return Err(error.into());
        }
    }
    Ok(())
}

/// Disables the controllers that the agent enabled in these groups, unless a group of somebody else's is limited by them: the
/// kernel would drop that limit without a word. Returns the failures.
pub fn take_back(
    journal: &mut Journal,
    is_unused: impl Fn(&Path) -> bool,
) -> Result<Vec<KernelFileError>, JournalError> {
    let mut failed = Vec::new();
    let all = journal.passed_on().to_vec();
    let made = journal.made().to_vec();
    let needed_by = |controller: &str, group: &Path| {
        let entries = fs::read_dir(group).into_iter().flatten().flatten();
        let mut others = entries.map(|entry| entry.path()).filter(|below| !made.contains(below));
        others.find_map(|below| {
            let what = below.is_dir().then(|| restriction_by(controller, &below)).flatten()?;
            Some(format!("{}: {what}", below.display()))
        })
    };
    for (group, controller) in all.iter().rev().filter(|(group, _)| is_unused(group)) {
        if let Some(why) = needed_by(controller, group) {
            let others = io::Error::other(format!("another group below is limited by it: {why}"));
            failed.push(KernelFileError::new("disable a controller in", group, others));
            continue;
        }
        match write_text(&group.join(FILE), &format!("-{controller}")) {
            Err(error) if !error.is_gone() => failed.push(error),
            _ => journal.forget_passed_on(group, controller)?,
        }
    }
    Ok(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_is_enabled_where_it_is_not_and_disabled_there_again() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let journal_file = root.join("journal");
        fs::create_dir_all(root.join("a/b")).unwrap();
        for (group, passed_on) in [("", "cpu io memory\n"), ("a", "memory\n"), ("a/b", "")] {
            fs::write(root.join(group).join(FILE), passed_on).unwrap();
        }
        let mut journal = Journal::load(&journal_file).unwrap();
        let groups = ["", "a", "a/b"].map(|group| root.join(group));
        pass_on("io", &groups, &mut journal).unwrap();
        let text = |group: &str| fs::read_to_string(root.join(group).join(FILE)).unwrap();
        assert_eq!([text(""), text("a"), text("a/b")], ["cpu io memory\n", "+io", "+io"]);

        let mut journal = Journal::load(&journal_file).unwrap();
        assert!(take_back(&mut journal, |_| false).unwrap().is_empty());
        assert_eq!(journal.passed_on().len(), 2);
        // Somebody else's limit.
        let limited = root.join("a/limited");
        fs::create_dir(&limited).unwrap();
        fs::write(limited.join("pids.max"), "7\n").unwrap();
        fs::write(limited.join("io.max"), "8:0 rbps=1048576\n").unwrap();
        let failed = take_back(&mut journal, |_| true).unwrap();
        assert_eq!(failed.len(), 1);
        assert!(failed[0].to_string().contains("io.max is 8:0 rbps=1048576"), "{}", failed[0]);
        assert_eq!([text("a"), text("a/b")], ["+io", "-io"]);
        fs::write(limited.join("io.max"), "").unwrap();
        assert!(take_back(&mut journal, |_| true).unwrap().is_empty());
        assert_eq!([text(""), text("a"), text("a/b")], ["cpu io memory\n", "-io", "-io"]);
        assert!(!journal_file.exists());
    }

    #[test]
    fn a_group_that_refuses_a_controller_is_named_and_leaves_nothing_to_undo() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::load(&directory.path().join("journal")).unwrap();
        let error = pass_on("io", &[directory.path().into()], &mut journal);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("cgroup.subtree_control"), "{error}");
        assert!(journal.passed_on().is_empty());
    }
}
