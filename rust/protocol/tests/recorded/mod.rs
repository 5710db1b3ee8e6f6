//! The recorded files of `tests/golden`.

use std::fs;
use std::path::{Path, PathBuf};

use elastane_protocol::VERSION;

/// The file of a recorded message.
pub fn file(version: u16, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    folder.join(format!("v{version}-{name}.bin"))
}

/// Fails if this version encodes to other bytes than the recorded ones.
pub fn unchanged(name: &str, bytes: &[u8]) {
    let path = file(VERSION, name);
    if std::env::var_os("ELASTANE_WRITE_GOLDEN").is_some() && !path.exists() {
        fs::write(&path, bytes).unwrap();
    }
    let recorded = fs::read(&path).unwrap_or_default();
    assert!(
        recorded == bytes,
        "{name}: the bytes of protocol version {VERSION} changed or are not recorded. Raise VERSION, keep the old types \
         in previous.rs, and write the new files with ELASTANE_WRITE_GOLDEN=1"
    );
}
