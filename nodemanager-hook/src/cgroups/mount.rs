//! A line of mountinfo about a cgroup hierarchy, and where a process is below it.

use std::path::{Component, Path, PathBuf};

/// The two kinds of hierarchies that the kernel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// One hierarchy or more, each with its controllers.
    One,
    /// One hierarchy for all controllers.
    Two,
}

/// Where a hierarchy is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub version: Version,
    pub mount_point: PathBuf,
    pub is_read_only: bool,
    /// The part of the hierarchy that is mounted there; `/` unless the agent is in a container.
    mounted_root: PathBuf,
    /// Of the file system: version 1 names its controllers here.
    options: String,
}

impl Mount {
    /// `36 35 98:0 /root /mount/point options optional… - type source super-options`; nothing when
    /// it is no cgroup hierarchy.
    pub fn parse(line: &str) -> Option<Self> {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, mount_point) = (mount.next()?, mount.next()?);
        let is_read_only = has_word(mount.next()?, "ro");
        let mut file_system = file_system.split(' ');
        let version = match file_system.next()? {
            "cgroup" => Version::One,
            "cgroup2" => Version::Two,
            _ => return None,
        };
        Some(Self {
            version,
            mount_point: unescape(mount_point).into(),
            is_read_only,
            mounted_root: unescape(root).into(),
            options: file_system.nth(1)?.into(),
        })
    }

    /// Whether a hierarchy of version 1 is that of a controller.
    pub fn is_of(&self, controller: &str) -> bool {
        self.version == Version::One && has_word(&self.options, controller)
    }

    /// The directory of a process, from the text of its `/proc/PID/cgroup`; nothing when it is
    /// outside of what is mounted here. A line of version 1 is this one's when it names one of
    /// `controllers`.
    pub fn directory_of(&self, cgroup: &str, controllers: &[&str]) -> Option<PathBuf> {
        let path = cgroup.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (named, path) = (fields.next()?, fields.next()?);
            let is_it = match self.version {
                Version::One => controllers.iter().any(|name| has_word(named, name)),
                Version::Two => named.is_empty(),
            };
            is_it.then_some(path)
        })?;
        let below = Path::new(path).strip_prefix(&self.mounted_root).ok()?;
        let plain = below
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        plain.then(|| join(&self.mount_point, below))
    }
}

fn has_word(list: &str, word: &str) -> bool {
    list.split(',').any(|one| one == word)
}

/// The kernel writes blanks and backslashes in mountinfo as three octal digits.
fn unescape(field: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(field.to_owned(), |text, (escaped, plain)| {
        text.replace(escaped, plain)
    })
}

/// `Path::join` with an empty path would add a slash.
fn join(mount_point: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() {
        mount_point.into()
    } else {
        mount_point.join(below)
    }
}
