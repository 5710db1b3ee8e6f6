//! Several threads have the depository open, and any of them may find it damaged.

use std::path::Path;

use elastane_store::{Depository, StoreError};

/// Goes over to the new file where another thread has put one in the place of this one.
pub(crate) fn follow(depository: &mut Depository) -> Result<bool, StoreError> {
    if !depository.is_replaced() {
        return Ok(false);
    }
    let renewed = depository.renew()?;
    tell(depository.path(), renewed.moved_aside.as_deref());
    Ok(true)
}

/// After damage was found: moves the file aside, unless another thread has, and goes on in the new
/// one. False where its pages are found to be whole.
pub(crate) fn begin_anew(depository: &mut Depository) -> Result<bool, StoreError> {
    let renewed = depository.renew()?;
    tell(depository.path(), renewed.moved_aside.as_deref());
    Ok(renewed.is_another)
}

/// Said by the one that moved it, so once.
pub(crate) fn tell(path: &Path, moved_aside: Option<&Path>) {
    if let Some(aside) = moved_aside {
        log::error!(
            "the depository {} was damaged and is now {}; learning begins anew",
            path.display(),
            aside.display()
        );
    }
}
