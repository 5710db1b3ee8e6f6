//! Files that the agent keeps beside its socket.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use nix::unistd::geteuid;

/// The path with a suffix appended to its file name.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.to_owned().into_os_string();
    path.push(suffix);
    path.into()
}

/// How to open a file that only the agent's user may read if it is made. `elastane-agent restore` has its caller's umask.
pub fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Reads a file that only the agent's user can have written.
pub fn read_own(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let owner = file.metadata()?.uid();
    if owner != geteuid().as_raw() {
        return Err(io::Error::other(format!("it belongs to uid {owner}")));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Replaces a file atomically.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let new = beside(path, ".new");
    remove(&new)?;
    // `create_new` does not follow a link that another user put there.
    private_options().write(true).create_new(true).open(&new)?.write_all(text)?;
    fs::rename(new, path)
}

/// Removes a file unless it is missing.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_for_its_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("agent.sock.status");
        replace(&path, b"{}").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }
}
