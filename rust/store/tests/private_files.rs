//! Who may read a depository, and whose files are not used.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use common::run;
use elastane_store::{Depository, StoreErrorKind};

const SOMEBODY: u32 = 12_345;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn distrust(path: &Path) -> String {
    let error = Depository::open_own(path).unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Distrusted(_)), "{error}");
    error.to_string()
}

fn made(folder: &Path) -> PathBuf {
    let path = folder.join("elastane/depository.sqlite");
    drop(Depository::open_own(&path).unwrap());
    path
}

#[test]
fn a_new_depository_and_its_folders_are_their_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let above = folder.path().join("learned");
    let path = above.join("elastane/depository.sqlite");
    let mut depository = Depository::open_own(&path).unwrap().depository;
    depository.save(&run("sales", 1)).unwrap();
    for part in ["", "-wal", "-shm"] {
        let name = format!("depository.sqlite{part}");
        assert_eq!(mode(&path.with_file_name(&name)), 0o600, "{name}");
    }
    assert_eq!((mode(path.parent().unwrap()), mode(&above)), (0o700, 0o700));
    let copy = folder.path().join("copy.sqlite");
    depository.snapshot(&copy).unwrap();
    assert_eq!(mode(&copy), 0o600);
}

#[test]
fn what_an_administrator_made_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("depository.sqlite");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let opened = Depository::open_own(&path).unwrap();
    assert_eq!(opened.readable_by_others, Some(0o640));
    assert_eq!((mode(folder.path()), mode(&path)), (0o755, 0o640));
}

#[test]
fn a_link_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path());
    let link = folder.path().join("link.sqlite");
    symlink(&path, &link).unwrap();
    assert!(distrust(&link).contains("is a symbolic link"));
    let link = folder.path().join("link");
    symlink(path.parent().unwrap(), &link).unwrap();
    assert!(distrust(&link.join("depository.sqlite")).contains("is a symbolic link"));
    let log = path.with_file_name("depository.sqlite-wal");
    symlink(folder.path().join("elsewhere"), log).unwrap();
    assert!(distrust(&path).contains("is a symbolic link"));
}

#[test]
fn somebody_elses_file_or_folder_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path());
    if chown(&path, Some(SOMEBODY), None).is_err() {
        // Only root can give a file away.
        return;
    }
    assert!(distrust(&path).contains("depository.sqlite belongs to user 12345"));
    chown(&path, Some(0), None).unwrap();
    chown(path.parent().unwrap(), Some(SOMEBODY), None).unwrap();
    assert!(distrust(&path).contains("elastane belongs to user 12345"));
    assert!(Depository::open(&path).is_ok(), "a command of root may");
}

#[test]
fn a_depository_in_memory_is_bounded_and_can_be_merged() {
    let folder = tempfile::tempdir().unwrap();
    let mut in_memory = Depository::in_memory(1 << 18).unwrap();
    let saved = (0..).take_while(|number| in_memory.save(&run("sales", *number)).is_ok()).count();
    assert!(saved > 10, "{saved}");
    let error = in_memory.save(&run("sales", 1_000_000)).unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Full(_)), "{error}");
    let copy = folder.path().join("copy.sqlite");
    in_memory.snapshot(&copy).unwrap();
    let mut depository = Depository::open(&folder.path().join("new.sqlite")).unwrap().depository;
    assert_eq!(depository.merge(&copy).unwrap().added, saved);
}
