use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
};

use nix::{sys::stat::Mode, unistd::mkfifo};

use super::*;

const PATIENCE_OF_TEST: Duration = Duration::from_secs(20);

impl Nft {
    /// A program that appends its arguments to the file returned, and that file.
    pub fn that_notes_its_calls(directory: &Path) -> (Self, PathBuf) {
        let (program, calls) = (directory.join("nft"), directory.join("calls"));
        write_program(&program, &format!("echo \"$@\" >> {}", calls.display()));
        (Self { program, ..Self::default() }, calls)
    }

    /// As after a call that hung.
    pub fn pause(&self) {
        self.note(&Err(too_long(LONGEST)), false);
    }

    pub fn go_on(&self) {
        *self.paused_until.lock() = None;
    }
}

/// By another process: one that a test forks meanwhile would keep the file open, and nobody could run it.
fn write_program(program: &Path, script: &str) {
    let write = "printf '#!/bin/sh\n%s\n' \"$0\" > \"$1\" && chmod 700 \"$1\"";
    let mut written = Command::new("sh");
    assert!(written.args(["-c", write, script]).arg(program).status().unwrap().success());
}

/// A program that waits for a line in `DIRECTORY/go` and answers with a counter of that number of bytes.
fn waiting_program(directory: &Path) -> Nft {
    let (program, go) = (directory.join("nft"), directory.join("go"));
    mkfifo(&go, Mode::S_IRWXU).unwrap();
    let counter = r#"{"counter": {"name": "sent_1", "packets": 1, "bytes": %s}}"#;
    let answer = format!("printf '{{\"nftables\": [{counter}]}}' $line");
    write_program(&program, &format!("read line < {}\n{answer}", go.display()));
    Nft { program, ..Nft::default() }
}

/// Calls until the answer is another one than that the program still reads.
fn answer_at_last(nft: &Nft) -> Result<BTreeMap<String, Counter>, NftError> {
    let deadline = Instant::now() + PATIENCE_OF_TEST;
    loop {
        match nft.counters() {
            Err(NftError::StillReads) if Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(5));
            }
            answer => return answer,
        }
    }
}

#[test]
fn a_reading_that_takes_long_holds_up_nobody_and_is_ended_at_last() {
    let directory = tempfile::tempdir().unwrap();
    let nft = waiting_program(directory.path());
    let begun = Instant::now();
    for _ in 0..10 {
        assert!(matches!(nft.counters(), Err(NftError::StillReads)));
    }
    // The first call alone waits.
    let most = LONGEST / 2;
    assert!(begun.elapsed() < most, "{:?}", begun.elapsed());
    assert!(matches!(answer_at_last(&nft), Err(NftError::TooLong { .. })));
    assert!(matches!(nft.counters(), Err(NftError::Paused)));
    assert!(!nft.has_hung());
}

#[test]
fn a_change_of_rules_does_not_begin_beside_a_reading_that_hangs() {
    let directory = tempfile::tempdir().unwrap();
    let nft = waiting_program(directory.path());
    assert!(matches!(nft.counters(), Err(NftError::StillReads)));
    assert!(matches!(nft.apply("add table inet elastane"), Err(NftError::Paused)));
    assert!(!nft.has_hung(), "the rules are known");
}

/// Bytes that the program counts with each of its next calls.
fn let_go(directory: &Path, lines: &[u8]) -> File {
    let mut go = OpenOptions::new().read(true).write(true).open(directory.join("go")).unwrap();
    go.write_all(lines).unwrap();
    go
}

#[test]
fn counters_that_are_late_are_returned_by_the_next_call() {
    let directory = tempfile::tempdir().unwrap();
    let nft = waiting_program(directory.path());
    assert!(matches!(nft.counters(), Err(NftError::StillReads)));
    let sent = |bytes| BTreeMap::from([("sent_1".to_owned(), Counter { packets: 1, bytes })]);
    let _go = let_go(directory.path(), b"7\n8\n");
    assert_eq!(answer_at_last(&nft).unwrap(), sent(7));
    assert!(nft.late_reading.lock().is_none());
    assert_eq!(answer_at_last(&nft).unwrap(), sent(8), "the next one reads anew");
}

#[test]
fn counters_from_before_a_change_of_rules_are_not_returned() {
    let directory = tempfile::tempdir().unwrap();
    let nft = waiting_program(directory.path());
    assert!(matches!(nft.counters(), Err(NftError::StillReads)));
    // The second line is for the change.
    let _go = let_go(directory.path(), b"7\n0\n8\n");
    nft.apply("add table inet elastane").unwrap();
    assert_eq!(answer_at_last(&nft).unwrap()["sent_1"].bytes, 8);
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    let begun = Instant::now();
    // More than a pipe holds, so that the program waits for its reader.
    let mut prints = Command::new("sh");
    prints.args(["-c", "head -c 1000000 /dev/zero"]);
    let printed = output_within(&mut prints, Duration::from_secs(20)).unwrap();
    assert_eq!(printed.stdout.len(), 1_000_000);
    let mut hangs = Command::new("sleep");
    let error = output_within(hangs.arg("60"), Duration::from_millis(100)).unwrap_err();
    assert!(matches!(error, NftError::TooLong { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn counters_and_handles_are_found_among_other_objects() {
    let listed = br#"{"nftables": [{"metainfo": {"version": "1.0.6", "json_schema_version": 1}},
        {"counter": {"family": "inet", "name": "sent_1", "table": "elastane", "handle": 6,
                     "packets": 95, "bytes": 3004948}}]}"#;
    let sent = Counter { packets: 95, bytes: 3_004_948 };
    let counters = parse_counters(listed).unwrap();
    assert_eq!(counters, BTreeMap::from([("sent_1".into(), sent)]));
    let echoed = br#"{"nftables": [{"add": {"chain": {"family": "inet", "name": "send_1"}}},
        {"add": {"rule": {"family": "inet", "table": "elastane", "chain": "send", "handle": 11,
                          "expr": [{"jump": {"target": "send_1"}}]}}}]}"#;
    let rules = added_rules(echoed).unwrap();
    assert_eq!(rules, BTreeMap::from([("send".into(), 11)]));
    assert!(matches!(parse(b"usage: nft"), Err(NftError::Answer { .. })));
}
