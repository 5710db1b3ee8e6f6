//! Controllers of version 2, passed from each group on to the groups in it.
//!
//! A controller works in a group only when all groups around it pass it on, and a group that does
//! may hold no processes itself, but for the root.

use std::path::Path;

use super::{
    kernel_files::{KernelFiles, read_text},
    limiter::LimitError,
};
use crate::journal::{Journal, JournalError};

const FILE: &str = "cgroup.subtree_control";

/// Lets a controller work in the groups of `parent`, which is below `mount_point`.
///
/// # Errors
/// A group that does not pass it on: it holds processes, or is not the agent's to change.
pub fn pass_on(
    controller: &str,
    mount_point: &Path,
    parent: &Path,
    files: &mut KernelFiles,
    journal: &mut Journal,
) -> Result<(), LimitError> {
    let mut group = mount_point.to_owned();
    let names = parent.iter();
    for name in std::iter::once(None).chain(names.map(Some)) {
        group.extend(name);
        let path = group.join(FILE);
        let passed_on = read_text(&path)?;
        if passed_on
            .split_ascii_whitespace()
            .any(|one| one == controller)
        {
            continue;
        }
        journal.remember_passed_on(&group, controller)?;
        if let Err(error) = files.write_text(&path, &format!("+{controller}")) {
            journal.forget_passed_on(&group, controller)?;
            return Err(error.into());
        }
    }
    Ok(())
}

/// Passes on no longer what the agent began to; gives what could not be undone.
///
/// # Errors
/// Those of the journal.
pub fn take_back(
    files: &mut KernelFiles,
    journal: &mut Journal,
) -> Result<Vec<LimitError>, JournalError> {
    let mut failed = Vec::new();
    for (group, controller) in journal.passed_on().to_vec().iter().rev() {
        match files.write_text(&group.join(FILE), &format!("-{controller}")) {
            Err(error) if !error.is_gone() => failed.push(error.into()),
            _ => journal.forget_passed_on(group, controller)?,
        }
    }
    Ok(failed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_the_groups_around_do_not_pass_on_yet_is_and_is_taken_back() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let journal_file = root.join("journal");
        fs::create_dir_all(root.join("a/b")).unwrap();
        for (group, passed_on) in [("", "cpu io memory\n"), ("a", "memory\n"), ("a/b", "")] {
            fs::write(root.join(group).join(FILE), passed_on).unwrap();
        }
        let files = &mut KernelFiles::default();
        let mut journal = Journal::load(&journal_file).unwrap();
        pass_on("io", root, Path::new("a/b"), files, &mut journal).unwrap();
        let text = |group: &str| fs::read_to_string(root.join(group).join(FILE)).unwrap();
        assert_eq!(
            [text(""), text("a"), text("a/b")],
            ["cpu io memory\n", "+io", "+io"]
        );

        let mut journal = Journal::load(&journal_file).unwrap();
        assert!(take_back(files, &mut journal).unwrap().is_empty());
        assert_eq!(
            [text(""), text("a"), text("a/b")],
            ["cpu io memory\n", "-io", "-io"]
        );
        assert!(!journal_file.exists());
    }

    #[test]
    fn a_group_that_cannot_pass_it_on_is_named_and_nothing_is_left_to_undo() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::load(&directory.path().join("journal")).unwrap();
        let files = &mut KernelFiles::default();
        let error = pass_on("io", directory.path(), Path::new("a"), files, &mut journal);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("cgroup.subtree_control"), "{error}");
        assert!(journal.passed_on().is_empty());
    }
}
