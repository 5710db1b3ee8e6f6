//! Files that only their owner may read: they have names of applications and users.

use std::fs::{DirBuilder, Metadata, OpenOptions, symlink_metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const ROOT: u32 = 0;

/// Why a file, or its folder, is not used.
#[derive(Debug, thiserror::Error)]
pub enum PrivateFileError {
    /// A link may lead to another user's file.
    #[error("{} is a symbolic link: use the path that it leads to", .0.display())]
    Link(PathBuf),
    /// Its owner could read what is written, or prepare what is read.
    #[error(
        "{} belongs to user {owner}, this process runs as user {this}: give it to user {this}",
        path.display()
    )]
    ForeignOwner {
        /// The file or folder.
        path: PathBuf,
        /// Its owner's id.
        owner: u32,
        /// The id of this process's user.
        this: u32,
    },
    /// The file system refused an action.
    #[error("cannot look at {}: {error}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

/// Makes the folders above a file where they are missing, for their owner alone. Others stay as they
/// are.
///
/// # Errors
/// The file system's.
pub fn make_private_folder(file: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder_of(file))
}

/// How to open a file so that it is its owner's alone where it is created.
pub fn private_file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).mode(FILE_MODE);
    options
}

/// Checks that a file and its folder, where they exist, are no links and belong to this process's
/// user, or to root. Gives the file's mode where group or others can read it.
///
/// # Errors
/// A link, another owner, or the file system's.
pub fn check_private_file(file: &Path) -> Result<Option<u32>, PrivateFileError> {
    let Some(folder) = checked(folder_of(file))? else {
        return Ok(None);
    };
    let Some(found) = checked(file)? else {
        return Ok(None);
    };
    let is_open = found.mode() & 0o044 != 0 && folder.mode() & 0o011 != 0;
    Ok(is_open.then_some(found.mode() & 0o777))
}

/// None where nothing is there.
fn checked(path: &Path) -> Result<Option<Metadata>, PrivateFileError> {
    let found = match symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(|error| PrivateFileError::File { path: path.to_owned(), error })?,
    };
    if found.is_symlink() {
        return Err(PrivateFileError::Link(path.to_owned()));
    }
    let (owner, this) = (found.uid(), nix::unistd::geteuid().as_raw());
    if owner != this && owner != ROOT {
        return Err(PrivateFileError::ForeignOwner { path: path.to_owned(), owner, this });
    }
    Ok(Some(found))
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => file,
    }
}
