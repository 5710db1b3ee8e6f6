//! A delegation token of the ResourceManager.

use std::path::Path;

use crate::failure::{Failure, read};

/// As Hadoop writes a token in one word: base64 for URLs.
pub(super) struct Token(String);

impl Token {
    /// # Errors
    /// The file cannot be read, or holds something else. No message shows its text.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = read(path)?;
        let word = text.trim();
        let is_allowed = |it: char| it.is_ascii_alphanumeric() || "-_=".contains(it);
        if word.is_empty() || !word.chars().all(is_allowed) {
            let problem =
                "it holds no delegation token, which is one word of letters, digits, '-' and '_'";
            return Err(Failure::bad(path, problem));
        }
        Ok(Self(word.to_owned()))
    }

    /// A line of curl's configuration, which curl reads from its standard input: all users of a machine see the
    /// arguments of a process.
    pub(super) fn curl_configuration(&self) -> String {
        format!("header = \"X-Hadoop-Delegation-Token: {}\"\n", self.0)
    }
}
