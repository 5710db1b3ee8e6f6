//! The mount of a cgroup hierarchy.

use std::path::{Component, Path, PathBuf};

/// The version of a hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// One hierarchy or more, each with its controllers.
    One,
    /// One hierarchy for all controllers.
    Two,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub version: Version,
    pub mount_point: PathBuf,
    pub is_read_only: bool,
    /// The mounted part of the hierarchy; `/` unless the agent is in a container.
    mounted_root: PathBuf,
    /// Options of the file system, which name the controllers of version 1.
    options: String,
}

impl Mount {
    /// Parses `36 35 98:0 /root /mount/point options optional… - type source super-options`. None if
    /// it is not a cgroup hierarchy.
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

    /// Whether the mount is version 1 and has a controller.
    pub fn is_of(&self, controller: &str) -> bool {
        self.version == Version::One && has_word(&self.options, controller)
    }

    /// The group of a process, from the text of its `/proc/PID/cgroup`. None outside of the mount. In
    /// version 1 the hierarchy's line names one of `controllers`.
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
        let plain = below.components().all(|component| matches!(component, Component::Normal(_)));
        // `Path::join` with an empty path adds a slash.
        plain.then(|| self.mount_point.join(below).components().collect())
    }
}

fn has_word(list: &str, word: &str) -> bool {
    list.split(',').any(|one| one == word)
}

/// mountinfo has blanks and backslashes as three octal digits.
fn unescape(field: &str) -> String {
    let octal = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    let plain = |text: String, (escaped, plain)| text.replace(escaped, plain);
    octal.into_iter().fold(field.to_owned(), plain)
}
