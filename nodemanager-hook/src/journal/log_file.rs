//! The journal's file: one line of JSON for each edit. A line is appended before the change that it undoes.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::entries::{Edit, Entries};
use crate::own_file;

/// The file is written anew when it has this many lines more than its entries take.
const MOST_LINES_MORE: usize = 1000;

#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    /// None until something is to be undone.
    open: Option<File>,
    lines: usize,
}

impl LogFile {
    pub fn new(path: &Path) -> Self {
        Self { path: path.into(), open: None, lines: 0 }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The entries that a killed agent left; none if there is no file. A last line without an end was not written whole, and
    /// its change not made.
    pub fn read(&self) -> io::Result<Entries> {
        let text = match own_file::read_own(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Entries::default()),
            text => text?,
        };
        let mut entries = Entries::default();
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let edit: serde_json::Result<Edit> = serde_json::from_str(line);
            if !line.ends_with('\n') {
                // JSON as a whole, but not of this version, was not cut off.
                let is_cut = edit.is_ok() || serde_json::from_str::<Value>(line).is_err();
                return match is_cut {
                    true => Ok(entries),
                    false => Err(io::Error::other("it is not of this version")),
                };
            }
            let edit =
                edit.map_err(|error| io::Error::other(format!("line {}: {error}", number + 1)))?;
            if entries.changes_by(&edit) {
                entries.apply(edit);
            }
        }
        Ok(entries)
    }

    /// Appends an edit. `entries` are the entries before the edit, or after it; a file that is written anew begins with them.
    /// After a failure the next call writes the file anew, since this line may be there in part.
    pub fn append(&mut self, edit: &Edit, entries: &Entries) -> io::Result<()> {
        let is_long = self.lines > MOST_LINES_MORE + entries.most_lines();
        let mut open = match self.open.take().filter(|_| !is_long) {
            Some(open) => open,
            None => self.begin(entries)?,
        };
        let mut line = serde_json::to_vec(edit)?;
        line.push(b'\n');
        open.write_all(&line)?;
        self.lines += 1;
        self.open = Some(open);
        Ok(())
    }

    /// Removes the file: nothing is to be undone any more.
    pub fn remove(&mut self) -> io::Result<()> {
        own_file::remove(&self.path)?;
        *self = Self::new(&self.path);
        Ok(())
    }

    /// Writes the file anew.
    fn begin(&mut self, entries: &Entries) -> io::Result<File> {
        let edits = entries.edits();
        let mut text = Vec::new();
        for edit in &edits {
            serde_json::to_writer(&mut text, edit)?;
            text.push(b'\n');
        }
        own_file::replace(&self.path, &text)?;
        self.lines = edits.len();
        OpenOptions::new().append(true).open(&self.path)
    }
}
