//! What a container loses when it leaves its group: the restrictions of that group and of the groups around it
//! (decision 37).

mod files;
mod programs;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use crate::cgroups::Version;

/// Something that holds the processes of a group for as long as they are in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restriction {
    group: PathBuf,
    /// A file with its value, or a kind of program.
    what: String,
}

/// What moves lose. Many containers leave the same group, so the answers are kept: an object serves one pass over the
/// containers, since restrictions change.
#[derive(Debug, Default)]
pub struct Losses(BTreeMap<(PathBuf, PathBuf), Option<Restriction>>);

impl Losses {
    /// The innermost restriction that a process loses when it moves from one group to another of the same hierarchy:
    /// those of the groups that contain both hold it as before. What cannot be read counts as a restriction.
    pub fn of_move(&mut self, from: &Path, to: &Path, version: Version) -> Option<&Restriction> {
        let found = self.0.entry((from.into(), to.into()));
        found.or_insert_with(|| lost(from, to, version)).as_ref()
    }
}

/// What a group, without the groups around it, restricts by the files of a controller. What cannot be read restricts.
pub fn restriction_by(controller: &str, group: &Path) -> Option<String> {
    match files::restriction_of(group, &format!("{controller}.")) {
        Err(error) if error.is_gone() => None,
        found => found.unwrap_or_else(|error| Some(error.to_string())),
    }
}

fn lost(from: &Path, to: &Path, version: Version) -> Option<Restriction> {
    let mut left = from.ancestors().take_while(|group| !to.starts_with(group));
    left.find_map(|group| {
        let in_files =
            files::restriction_of(group, "").unwrap_or_else(|error| Some(error.to_string()));
        let what = in_files.or_else(|| in_programs(group, version))?;
        Some(Restriction { group: group.into(), what })
    })
}

/// Version 1 has no programs.
fn in_programs(group: &Path, version: Version) -> Option<String> {
    if version == Version::One {
        return None;
    }
    let found = programs::restriction_of(group);
    found.unwrap_or_else(|error| Some(format!("its BPF programs cannot be listed: {error}")))
}

impl fmt::Display for Restriction {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "{}: {}", self.group.display(), self.what)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A hierarchy of files: `system.slice/yarn.service/job` and `elastane`.
    struct Recorded(tempfile::TempDir);

    impl Recorded {
        fn new() -> Self {
            let recorded = Self(tempfile::tempdir().unwrap());
            for group in
                ["system.slice/yarn.service/job", "system.slice/yarn.service/elastane", "elastane"]
            {
                fs::create_dir_all(recorded.group(group)).unwrap();
            }
            recorded
        }

        fn group(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, file: &str, text: &str) {
            fs::write(self.group(file), text).unwrap();
        }

        /// The restriction that a move from the job's group loses, without the recorded hierarchy's path.
        fn lost_on_the_way_to(&self, to: &str) -> Option<String> {
            let job = self.group("system.slice/yarn.service/job");
            let lost = lost(&job, &self.group(to), Version::One)?;
            Some(lost.to_string().replace(&format!("{}/", self.0.path().display()), ""))
        }
    }

    #[test]
    fn every_group_that_is_left_counts_and_no_other() {
        let recorded = Recorded::new();
        recorded.write("pids.max", "7\n");
        recorded.write("elastane/pids.max", "8\n");
        recorded.write("system.slice/yarn.service/job/pids.max", "max\n");
        assert_eq!(recorded.lost_on_the_way_to("elastane"), None);
        recorded.write("system.slice/memory.max", "1048576\n");
        let of_slice = Some("system.slice: memory.max is 1048576".to_owned());
        assert_eq!(recorded.lost_on_the_way_to("elastane"), of_slice);
        recorded.write("system.slice/yarn.service/pids.max", "15000\n");
        let of_service = Some("system.slice/yarn.service: pids.max is 15000".to_owned());
        assert_eq!(recorded.lost_on_the_way_to("elastane"), of_service);
        // Within the service both hold as before.
        assert_eq!(recorded.lost_on_the_way_to("system.slice/yarn.service/elastane"), None);
    }

    #[test]
    fn what_cannot_be_read_restricts() {
        let recorded = Recorded::new();
        // Not a text.
        fs::write(recorded.group("system.slice/cpu.weight"), [0xff]).unwrap();
        let lost = recorded.lost_on_the_way_to("elastane").unwrap();
        assert!(lost.starts_with("system.slice: cannot read system.slice/cpu.weight"), "{lost}");
    }

    #[test]
    fn a_restriction_is_looked_for_once_in_a_pass() {
        let recorded = Recorded::new();
        let (from, to) = (recorded.group("system.slice"), recorded.group("elastane"));
        let mut losses = Losses::default();
        assert_eq!(losses.of_move(&from, &to, Version::One), None);
        recorded.write("system.slice/pids.max", "7\n");
        assert_eq!(losses.of_move(&from, &to, Version::One), None);
        assert!(Losses::default().of_move(&from, &to, Version::One).is_some());
    }
}
