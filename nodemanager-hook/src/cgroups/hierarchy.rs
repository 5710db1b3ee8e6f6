//! One mounted cgroup hierarchy.

use std::path::{Component, Path, PathBuf};

use super::Controller;

/// The two kinds of hierarchies that the kernel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    One,
    Two,
}

/// Where a hierarchy is mounted, and what it can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    version: Version,
    controllers: Vec<Controller>,
    mount_point: PathBuf,
    /// The part of the hierarchy that is mounted there; `/` unless the agent is in a container.
    mounted_root: PathBuf,
    is_read_only: bool,
}

impl Hierarchy {
    /// `36 35 98:0 /root /mount/point options optional… - type source super-options`, a line of
    /// mountinfo; nothing when it is no hierarchy that the agent knows.
    pub(super) fn parse(line: &str, controllers_of: &impl Fn(&Path) -> String) -> Option<Self> {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, mount_point) = (mount.next()?, mount.next()?);
        let is_read_only = has_word(mount.next()?, ',', "ro");
        let mut file_system = file_system.split(' ');
        let version = match file_system.next()? {
            "cgroup" => Version::One,
            "cgroup2" => Version::Two,
            _ => return None,
        };
        let mount_point = PathBuf::from(unescape(mount_point));
        let offers = match version {
            Version::One => file_system.nth(1)?.replace(',', " "),
            Version::Two => controllers_of(&mount_point),
        };
        let offered = |controller: &Controller| match controller.name(version) {
            Some(name) => offers.split_ascii_whitespace().any(|word| word == name),
            None => controller.is_of(version),
        };
        let controllers: Vec<Controller> = Controller::ALL.into_iter().filter(offered).collect();
        (!controllers.is_empty()).then(|| Self {
            version,
            controllers,
            mount_point,
            mounted_root: unescape(root).into(),
            is_read_only,
        })
    }

    pub fn version(&self) -> Version {
        self.version
    }

    pub fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    pub fn has(&self, controller: Controller) -> bool {
        self.controllers.contains(&controller)
    }

    /// Whether it is mounted so that nothing can be changed in it.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// The directory of a process, from the text of its `/proc/PID/cgroup`; nothing when it is
    /// outside of what is mounted here.
    pub fn directory_of(&self, cgroup: &str) -> Option<PathBuf> {
        let path = cgroup.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            self.is_named(controllers).then_some(path)
        })?;
        let below = Path::new(path).strip_prefix(&self.mounted_root).ok()?;
        let plain = below
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        plain.then(|| join(&self.mount_point, below))
    }

    /// The line of version 2 names no controllers.
    fn is_named(&self, controllers: &str) -> bool {
        match self.version {
            Version::One => self.controllers.iter().any(|controller| {
                let name = controller.name(Version::One);
                name.is_some_and(|name| has_word(controllers, ',', name))
            }),
            Version::Two => controllers.is_empty(),
        }
    }
}

fn has_word(text: &str, separator: char, word: &str) -> bool {
    text.split(separator).any(|one| one == word)
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
