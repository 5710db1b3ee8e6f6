//! A file for `elastane profiles import` is read or refused, without a panic. Runs that are read have amounts that a
//! profile can be made of, are written to an equal file, and come back from a depository.
#![no_main]

#[path = "../../../rust/cli/src/profiles/file.rs"]
mod file;
#[path = "../run_folder.rs"]
mod run_folder;

use std::cell::RefCell;
use std::path::Path;

use elastane_predict::Run;
use elastane_store::Depository;
use libfuzzer_sys::fuzz_target;
use run_folder::run_folder;

thread_local! {
    static DEPOSITORY: RefCell<Depository> = RefCell::new(depository());
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(runs) = file::read(text) else { return };
    for run in &runs {
        for amount in run.series.iter().flat_map(|it| &it.slots).flat_map(|slot| slot.to_array()) {
            assert!(amount.is_finite() && amount >= 0.0, "{amount}");
        }
    }
    let again = file::write(&runs).expect("runs are JSON");
    assert_eq!(file::read(&again).as_deref(), Ok(&runs[..]), "{again}");
    DEPOSITORY.with_borrow_mut(|depository| runs.iter().for_each(|run| import(depository, run)));
});

/// As the command does, and removes the run again.
fn import(depository: &mut Depository, run: &Run) {
    depository.save(run).expect("a run that was read can be saved");
    let id = &run.application_id;
    let found = depository.run(id).expect("the run was saved");
    assert_eq!(found.as_ref(), Some(run));
    depository.forget(&run.application_key).expect("the run is there");
}

fn depository() -> Depository {
    let path = run_folder(Path::new("/dev/shm")).join("depository.db");
    Depository::open(&path).expect("a new file").depository
}
