use std::fs;
use std::path::Path;

use crate::error::ReplayError;

const PROCESSES: &str = "cgroup.procs";

/// Moves this process into a control group, unless it is already in the group or below it: an agent
/// that was faster has put it into the container's own group.
pub(crate) fn enter(group: &Path) -> Result<(), ReplayError> {
    if holds(group, &std::process::id().to_string())? {
        return Ok(());
    }
    let file = group.join(PROCESSES);
    fs::write(&file, "0").map_err(ReplayError::file(&file))
}

/// Whether a process is in the group or below it.
fn holds(group: &Path, process: &str) -> Result<bool, ReplayError> {
    let file = group.join(PROCESSES);
    let members = match fs::read_to_string(&file) {
        Ok(members) => members,
        // Groups of other containers come and go.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(ReplayError::file(&file)(error)),
    };
    if members.lines().any(|member| member == process) {
        return Ok(true);
    }
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.path().is_dir() && holds(&entry.path(), process)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_in_or_below_the_group_stays_there() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("container");
        fs::create_dir(&below).unwrap();
        fs::write(folder.path().join(PROCESSES), "17\n").unwrap();
        fs::write(below.join(PROCESSES), "18\n19\n").unwrap();
        assert!(holds(folder.path(), "17").unwrap());
        assert!(holds(folder.path(), "19").unwrap());
        assert!(!holds(folder.path(), "1").unwrap());
    }

    #[test]
    fn another_process_enters_and_a_missing_group_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(PROCESSES), "1\n").unwrap();
        enter(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join(PROCESSES)).unwrap(), "0");
        let missing = folder.path().join("missing");
        assert!(enter(&missing).unwrap_err().to_string().contains("missing/cgroup.procs"));
    }
}
