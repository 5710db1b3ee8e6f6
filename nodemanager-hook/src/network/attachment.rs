//! Attaching BPF programs to cgroups, and detaching those that a killed agent left.

use std::{
    fs::{self, File},
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use super::{
    bpf::{self, Program},
    error::NetworkError,
    programs::Direction,
};

/// Prefix of the names of the agent's programs.
const NAME_PREFIX: &str = "elastane_";

/// How a BPF program is attached to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// By a BPF link, which goes with the agent however the agent ends. Needs Linux 5.7.
    Link,
    /// Directly. The program of a killed agent stays until the group is removed or
    /// [`remove_leftovers`] detaches it.
    Program,
}

/// An attached program. Dropping it detaches the program.
#[derive(Debug)]
pub enum Attachment {
    Link { _link: OwnedFd },
    Program(Program, OwnedFd, Direction),
}

impl Attachment {
    pub fn new(
        program: Program,
        group: BorrowedFd<'_>,
        direction: Direction,
        mechanism: Mechanism,
    ) -> io::Result<Self> {
        match mechanism {
            Mechanism::Link => Ok(Self::Link {
                _link: program.link(group, direction)?,
            }),
            Mechanism::Program => {
                let owned = group.try_clone_to_owned()?;
                program.attach(group, direction)?;
                Ok(Self::Program(program, owned, direction))
            }
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let Self::Program(program, group, direction) = self else {
            return; // Closing the descriptor removes the link.
        };
        match program.detach(group.as_fd(), *direction) {
            Err(error) if !is_gone(&error) => {
                log::warn!("cannot detach a BPF program from its group: {error}");
            }
            _ => {}
        }
    }
}

/// Detaches the programs that a killed agent with [`Mechanism::Program`] left on a group and its
/// descendants; returns how many. Programs of others stay, and so do programs on a live agent's
/// link. Needs `CAP_SYS_ADMIN`.
pub fn remove_leftovers(parent: &Path) -> Result<usize, NetworkError> {
    let mut removed = match remove_from(parent) {
        Err(error) if error.is_gone() => return Ok(0),
        removed => removed?,
    };
    let entries =
        fs::read_dir(parent).map_err(|error| NetworkError::group("list", parent, error))?;
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            removed += remove_leftovers(&entry.path())?;
        }
    }
    Ok(removed)
}

fn remove_from(group: &Path) -> Result<usize, NetworkError> {
    let failed = |action| move |error| NetworkError::group(action, group, error);
    let directory = File::open(group).map_err(failed("open group"))?;
    let mut removed = 0;
    for hook in Direction::ALL {
        let attached = bpf::attached_programs(directory.as_fd(), hook)
            .map_err(failed("list the BPF programs of"))?;
        for id in attached {
            let was_own = remove_own(id, directory.as_fd(), hook)
                .map_err(failed("detach a BPF program from"))?;
            removed += usize::from(was_own);
        }
    }
    Ok(removed)
}

/// Detaches a program of the agent's; returns whether the program was the agent's.
fn remove_own(id: u32, group: BorrowedFd<'_>, hook: Direction) -> io::Result<bool> {
    let removed = Program::open(id).and_then(|program| {
        let is_own = program.name()?.starts_with(NAME_PREFIX);
        if is_own {
            program.detach(group, hook)?;
        }
        Ok(is_own)
    });
    match removed {
        // The program went meanwhile, or is attached by a link.
        Err(error) if is_gone(&error) => Ok(false),
        removed => removed,
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENODEV))
}

#[cfg(test)]
mod tests {
    use std::{env, ffi::CStr, path::PathBuf};

    use nix::unistd::geteuid;

    use super::*;
    use crate::network::{bpf::ArrayMap, programs};

    /// A group that is removed when this is dropped.
    struct Group(PathBuf);

    impl Drop for Group {
        fn drop(&mut self) {
            let _ = fs::remove_dir(&self.0);
        }
    }

    fn group(name: &str) -> Option<Group> {
        if !geteuid().is_root() {
            // The same variable as in the integration tests.
            let may_skip = env::var("ELASTANE_TESTS_WITHOUT_CGROUPS").is_ok_and(|one| one == "1");
            assert!(may_skip, "groups cannot be made: not root");
            return None;
        }
        let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let line = mountinfo
            .lines()
            .find(|line| line.contains(" - cgroup2 "))
            .unwrap();
        let mount_point = Path::new(line.split(' ').nth(4).unwrap());
        let group = mount_point.join(format!("elastane-net-test-{}-{name}", std::process::id()));
        fs::create_dir(&group).unwrap();
        Some(Group(group))
    }

    /// Loads programs with these names that count for no group.
    fn load<const N: usize>(names: [&CStr; N]) -> [Program; N] {
        let counters = ArrayMap::<{ programs::COUNTER_WORDS }>::create(1).unwrap();
        let limits = ArrayMap::<{ programs::LIMIT_WORDS }>::create(1).unwrap();
        let (counters, limits) = (counters.descriptor(), limits.descriptor());
        let program = Direction::Send.program(0, counters, limits);
        names.map(|name| Program::load(name, &program).unwrap())
    }

    #[test]
    fn a_program_of_another_owner_stays() {
        let Some(group) = group("foreign") else {
            return;
        };
        let [foreign, own] = load([c"foreign", Direction::Send.name()]);
        assert_eq!(own.name().unwrap(), "elastane_out");
        let directory = File::open(&group.0).unwrap();
        for program in [&foreign, &own] {
            program.attach(directory.as_fd(), Direction::Send).unwrap();
        }
        let attached = || bpf::attached_programs(directory.as_fd(), Direction::Send).unwrap();
        assert_eq!(attached().len(), 2);
        assert_eq!(remove_leftovers(&group.0).unwrap(), 1);
        let [left] = attached()[..] else {
            panic!("{:?} are attached", attached());
        };
        assert_eq!(Program::open(left).unwrap().name().unwrap(), "foreign");
    }

    #[test]
    fn dropping_an_attachment_detaches_the_program() {
        let Some(group) = group("dropped") else {
            return;
        };
        let directory = File::open(&group.0).unwrap();
        let attached = || bpf::attached_programs(directory.as_fd(), Direction::Send).unwrap();
        for mechanism in [Mechanism::Link, Mechanism::Program] {
            let [program] = load([Direction::Send.name()]);
            assert!(program.can_link().unwrap());
            let group = directory.as_fd();
            let attachment = Attachment::new(program, group, Direction::Send, mechanism);
            assert_eq!(attached().len(), 1);
            drop(attachment);
            assert!(attached().is_empty(), "{mechanism:?}");
        }
    }
}
