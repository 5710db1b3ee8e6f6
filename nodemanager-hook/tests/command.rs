//! The command line, as an administrator sees it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

const AGENT: &str = env!("CARGO_BIN_EXE_elastane-agent");

/// Exit code, standard output, standard error.
fn agent(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(AGENT);
    let output = command.args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap();
    (code, text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_example_configuration_is_valid() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/agent.toml");
    assert_eq!(agent(&["check-config", example]), (0, String::new(), String::new()));
}

#[test]
fn a_wrong_configuration_gives_one_line_and_exit_code_2() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("agent.toml");
    let path = file.to_str().unwrap();
    for (text, line) in [
        ("[sampling]\ninterval_ms = 1\n", "sampling.interval_ms = 1: allowed is 100 to 60000"),
        ("[socket]\nallowed_users = ['no-such-user']\n", "socket.allowed_users = no-such-user:"),
        ("[socket]\ngroup = 'no-such-group'\n", "socket.group = no-such-group:"),
        ("socket\n", "`socket`"),
    ] {
        fs::write(&file, text).unwrap();
        let (code, _, error) = agent(&["check-config", path]);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(line) && error.contains(path), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let (code, _, error) = agent(&["run", "--config", "/does/not/exist"]);
    assert_eq!(code, 2);
    assert!(error.starts_with("elastane-agent: /does/not/exist: cannot be read"), "{error}");
}

#[test]
fn the_exit_code_is_the_same_when_the_error_cannot_be_written() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(AGENT);
    let status = command.args(["run", "--config", "/does/not/exist"]).stderr(full).status();
    assert_eq!(status.unwrap().code(), Some(2));
}

#[test]
fn the_help_has_examples_and_exit_codes() {
    let (code, help, _) = agent(&["--help"]);
    assert_eq!(code, 0);
    assert!(help.contains("elastane-agent run --config /etc/elastane/agent.toml"));
    assert!(help.contains("Exit codes:"));
    let (code, _, error) = agent(&["walk"]);
    assert_eq!(code, 2);
    assert!(error.contains("unrecognized subcommand 'walk'"), "{error}");
}

#[test]
fn the_doctor_lists_the_resources_and_gives_advice() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("agent.toml");
    fs::write(&file, "").unwrap();
    let path = file.to_str().unwrap();
    let (code, table, error) = agent(&["doctor", "--config", path]);
    // No local directories are configured.
    assert_eq!((code, error.as_str()), (1, ""));
    for part in ["resource ", "CPU ", "memory ", "disk ", "-> set disk.local_dirs to"] {
        assert!(table.contains(part), "{table}");
    }
    let (_, json, _) = agent(&["doctor", "--json", "--config", path]);
    let findings: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(findings[0]["what"], "CPU");
}

#[test]
fn without_a_file_the_doctor_says_which_configuration_it_takes() {
    let (code, table, error) = agent(&["doctor"]);
    let usual = "/etc/elastane/agent.toml";
    let said = match Path::new(usual).exists() {
        true => format!("configuration: {usual}"),
        false => format!("there is no {usual}: the defaults are taken"),
    };
    assert!(error.contains(&said) && error.lines().count() == 1, "{error}");
    assert!(code <= 1 && table.contains("CPU "), "{code}: {table}");
}

#[test]
fn status_without_an_agent_gives_exit_code_1() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("agent.toml");
    let socket = directory.path().join("agent.sock");
    fs::write(&file, format!("[socket]\npath = '{}'\n", socket.display())).unwrap();
    let (code, _, error) = agent(&["status", "--config", file.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(error.contains("no agent runs with this configuration"), "{error}");
}

#[test]
fn restore_makes_files_for_their_owner_alone_whatever_the_umask_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let config = format!(
        "[socket]\npath = {:?}\n[audit]\nfile = {:?}\n",
        path("agent.sock"),
        path("audit.jsonl")
    );
    fs::write(path("agent.toml"), config).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 0; exec \"$0\" restore --config \"$1\""]);
    let output = shell.arg(AGENT).arg(path("agent.toml")).output().unwrap();
    let mode = fs::metadata(path("audit.jsonl")).map(|found| found.permissions().mode() & 0o777);
    assert_eq!(mode.unwrap(), 0o600, "{}", String::from_utf8_lossy(&output.stderr));
}
