//! Opening files, and moving damaged ones aside.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::depository::{Depository, LOCK_WAIT};
use crate::error::{StoreError, StoreErrorKind};
use crate::private_file::{check_private_file, make_private_folder, private_file_options};
use crate::schema::{self, Found};

/// The interval of attempts where SQLite itself does not wait.
const LOCK_RETRY: Duration = Duration::from_millis(10);

/// A file and SQLite's side files of it.
const SIDE_FILES: [&str; 3] = ["", "-wal", "-shm"];

/// SQLite's name of a database without a file.
const IN_MEMORY: &str = ":memory:";

/// How a depository is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and writing.
    Write,
}

/// An opened depository.
#[derive(Debug)]
pub struct Opened {
    /// The depository.
    pub depository: Depository,
    /// The new place of a damaged file; the depository is a new one then.
    pub moved_aside: Option<PathBuf>,
    /// The file's mode, where group or others can read the file.
    pub readable_by_others: Option<u32>,
    /// The version of the tables, where a newer program made them that says that this one can use them.
    pub newer_version: Option<i32>,
}

impl Depository {
    /// Opens a depository for writing. Makes the file and the folders above it where they are missing.
    ///
    /// A file of an older version gets what it lacks. Checks every page. A file that is damaged, or not SQLite at all, is
    /// moved to `NAME.damaged-N`, with N from 1 on, and a new one is made: what was learned is lost, and the caller reports
    /// that.
    ///
    /// # Errors
    /// The file system's; a lock that another process held for 5 s; a schema of another version; an
    /// SQLite file of another program.
    pub fn open(path: &Path) -> Result<Opened, StoreError> {
        make_private_folder(path)
            .map_err(|error| StoreError::file(path, "make its folder", error))?;
        let (depository, moved_aside) = match open_or_create(path) {
            Err(error) if error.is_damage() => {
                let aside = move_aside(path)?;
                (open_or_create(path)?, Some(aside))
            }
            opened => (opened?, None),
        };
        let newer_version = match schema::find(&depository.connection, path)? {
            Found::Newer(version) => Some(version),
            _ => None,
        };
        Ok(Opened { depository, moved_aside, readable_by_others: None, newer_version })
    }

    /// As [`Depository::open`], for a program that works unattended: a link, and a file or folder of
    /// another user than this process's and root, are refused.
    ///
    /// # Errors
    /// As [`Depository::open`], and those of [`check_private_file`].
    pub fn open_own(path: &Path) -> Result<Opened, StoreError> {
        let distrusted = |error| StoreError::new(path, StoreErrorKind::Distrusted(error));
        for side in SIDE_FILES {
            check_private_file(&with_suffix(path, side)).map_err(distrusted)?;
        }
        let opened = Self::open(path)?;
        let readable_by_others = check_private_file(path).map_err(distrusted)?;
        Ok(Opened { readable_by_others, ..opened })
    }

    /// A new depository without a file, for at most so many bytes.
    ///
    /// # Errors
    /// SQLite's.
    pub fn in_memory(most_bytes: u64) -> Result<Self, StoreError> {
        let path = Path::new(IN_MEMORY);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let depository = open_to_write(path, flags)?;
        let failed = |error| StoreError::refused(path, "bound it", error);
        let query = |pragma: &str| depository.connection.query_row(pragma, [], |row| row.get(0));
        let page_bytes: u64 = query("PRAGMA page_size").map_err(failed)?;
        let pages = most_bytes / page_bytes.max(1);
        let _: u64 = query(&format!("PRAGMA max_page_count = {pages}")).map_err(failed)?;
        Ok(depository)
    }

    /// Opens the file anew after damage was found, as [`Depository::open`] does. Gives the new place
    /// of the damaged file; none where its pages turn out to be whole.
    ///
    /// # Errors
    /// As [`Depository::open`]; the connection is as it was then.
    pub fn reopen(&mut self) -> Result<Option<PathBuf>, StoreError> {
        let opened = Self::open(&self.path)?;
        *self = opened.depository;
        Ok(opened.moved_aside)
    }

    /// Opens an existing depository. Nothing is made or moved, and nothing changed for reading.
    ///
    /// # Errors
    /// As [`Depository::open`], and: no such file, a damaged file; for reading, an empty file.
    pub fn open_existing(path: &Path, access: Access) -> Result<Depository, StoreError> {
        if !path.exists() {
            return Err(StoreError::new(path, StoreErrorKind::Missing));
        }
        match access {
            Access::Write => open_to_write(path, OpenFlags::SQLITE_OPEN_READ_WRITE),
            Access::Read => open_to_read(path),
        }
    }
}

fn open_or_create(path: &Path) -> Result<Depository, StoreError> {
    // SQLite gives a new file the mode that all can read, and its log the mode of the file.
    private_file_options()
        .append(true)
        .open(path)
        .map_err(|error| StoreError::file(path, "open it", error))?;
    open_to_write(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

fn open_to_write(path: &Path, flags: OpenFlags) -> Result<Depository, StoreError> {
    let mut connection = connect(path, flags)?;
    let failed = |error| StoreError::refused(path, "set it up", error);
    let keep_log = |connection: &Connection, keep| {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep).map_err(failed)
    };
    // A damaged file is kept as it was found, with its log.
    keep_log(&connection, true)?;
    // Before the first write: another program's file stays unchanged.
    let found = schema::find(&connection, path)?;
    if found == Found::Nothing {
        // Works only before the first table; lets pruning shorten the file without rewriting it.
        set(&connection, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
    }
    check_pages(&connection, path)?;
    use_log(&connection).map_err(failed)?;
    set(&connection, "synchronous", "NORMAL").map_err(failed)?;
    set(&connection, "foreign_keys", "ON").map_err(failed)?;
    if matches!(found, Found::Nothing | Found::Older(_)) {
        schema::upgrade(&mut connection, path)?;
    }
    keep_log(&connection, false)?;
    Ok(Depository::new(connection, path))
}

/// Turns WAL on. SQLite does not wait for a lock here as it does elsewhere, so two processes that open
/// a new file at once would make each other fail.
fn use_log(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + LOCK_WAIT;
    loop {
        match set(connection, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                thread::sleep(LOCK_RETRY);
            }
            done => return done,
        }
    }
}

fn set(connection: &Connection, pragma: &str, value: &str) -> rusqlite::Result<()> {
    match connection.pragma_update_and_check(None, pragma, value, |_| Ok(())) {
        // Only some pragmas answer with a row.
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(()),
        done => done,
    }
}

fn open_to_read(path: &Path) -> Result<Depository, StoreError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if schema::find(&connection, path)? == Found::Nothing {
        return Err(StoreError::new(path, StoreErrorKind::Foreign));
    }
    Ok(Depository::new(connection, path))
}

pub(crate) fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let failed = |error| StoreError::refused(path, "open it", error);
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(LOCK_WAIT).map_err(failed)?;
    Ok(connection)
}

pub(crate) fn check_pages(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let found: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| StoreError::refused(path, "check its pages", error))?;
    if found == "ok" {
        return Ok(());
    }
    Err(StoreError::new(path, StoreErrorKind::Damaged(found)))
}

/// Moves a file and its side files to the first free `NAME.damaged-N`.
fn move_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let aside = (1_u64..)
        .map(|number| with_suffix(path, &format!(".damaged-{number}")))
        .find(|aside| !aside.exists())
        .unwrap_or_else(|| with_suffix(path, ".damaged"));
    for side in SIDE_FILES {
        match fs::rename(with_suffix(path, side), with_suffix(&aside, side)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let action = format!("move the damaged file to {}", aside.display());
                return Err(StoreError::file(path, action, error));
            }
            _ => {}
        }
    }
    Ok(aside)
}

/// The path of a file beside another, such as SQLite's log: its name with a suffix.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
