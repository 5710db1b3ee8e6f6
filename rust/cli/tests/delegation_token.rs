//! `--delegation-token`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use common::{elastane, heads_of, server, text};
use tempfile::TempDir;

const TOKEN: &str = "HAAEb3dleA_-xyz=";

fn token_file(content: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, content).unwrap();
    (folder, file)
}

#[test]
fn the_token_of_a_file_goes_to_the_active_one_that_a_standby_names() {
    let (_folder, file) = token_file(&format!("{TOKEN}\n"));
    let (active, heads) = heads_of(&["HTTP/1.0 400 No\r\n\r\n{\"error\": \"by a test\"}"]);
    let redirect = format!("HTTP/1.0 307 Go\r\nLocation: {active}/elastane/v1/status\r\n\r\n");
    let (standby, _) = server(&redirect);
    let arguments = ["status", "--resource-manager", &standby, "--delegation-token", text(&file)];
    let ended = elastane(&arguments);
    assert_eq!(ended.stderr, "elastane: by a test\n");
    let header = format!("X-Hadoop-Delegation-Token: {TOKEN}");
    let head = heads.join().unwrap();
    assert!(head.contains(&header), "{head:?}");
}

#[test]
fn no_argument_of_curl_shows_the_token() {
    let (folder, file) = token_file(TOKEN);
    let curl = folder.path().join("curl");
    let script = "#!/bin/sh\nset -e\ncd \"${0%/*}\"\necho \"$@\" > arguments\ncat > input\n\
                  printf '{\"error\": \"by a test\"}\\n400'\n";
    fs::write(&curl, script).unwrap();
    fs::set_permissions(&curl, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let ended = Command::new(env!("CARGO_BIN_EXE_elastane"))
        .args(["explain", "root", "--delegation-token", text(&file)])
        .env("PATH", format!("{}:{path}", text(folder.path())))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "elastane: by a test\n");
    let written = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(!written("arguments").contains(TOKEN));
    assert_eq!(written("input"), format!("header = \"X-Hadoop-Delegation-Token: {TOKEN}\"\n"));
}

#[test]
fn a_file_without_a_token_is_refused_and_not_shown() {
    for content in ["", "two words", "a\"\nurl = \"http://elsewhere\""] {
        let (_folder, file) = token_file(content);
        let refused = elastane(&["status", "--delegation-token", text(&file)]).refused();
        let start = format!("elastane: {}: it holds no delegation token", text(&file));
        assert!(refused.starts_with(&start), "{refused}");
        assert!(!refused.contains("words") && !refused.contains("elsewhere"), "{refused}");
    }
    let missing = elastane(&["status", "--delegation-token", "/nowhere/token"]).refused();
    assert!(missing.starts_with("elastane: /nowhere/token: "), "{missing}");
}

#[test]
fn a_token_that_has_expired_is_told() {
    let (_folder, file) = token_file(TOKEN);
    let (url, thread) = server("HTTP/1.0 403 Forbidden\r\n\r\n<html></html>");
    let ended =
        elastane(&["status", "--resource-manager", &url, "--delegation-token", text(&file)]);
    thread.join().unwrap();
    assert_eq!(ended.code, Some(1));
    let told = format!(
        "elastane: {url} refuses the delegation token: it has expired or was cancelled, another \
         cluster gave it, or this ResourceManager is a standby\n"
    );
    assert_eq!(ended.stderr, told);
}

#[test]
fn a_standby_that_refuses_the_token_is_passed_over() {
    let (_folder, file) = token_file(TOKEN);
    let (standby, refused) = server("HTTP/1.0 403 Forbidden\r\n\r\n<html></html>");
    let (active, heads) = heads_of(&["HTTP/1.0 400 No\r\n\r\n{\"error\": \"by a test\"}"]);
    let both = format!("{standby},{active}");
    let ended =
        elastane(&["status", "--resource-manager", &both, "--delegation-token", text(&file)]);
    refused.join().unwrap();
    assert_eq!(ended.stderr, "elastane: by a test\n");
    let head = heads.join().unwrap();
    assert!(head.contains(&format!("X-Hadoop-Delegation-Token: {TOKEN}")), "{head:?}");
}

#[test]
fn what_elastane_itself_forbids_is_the_answer() {
    let (_folder, file) = token_file(TOKEN);
    let (url, _) = server("HTTP/1.0 403 Forbidden\r\n\r\n{\"error\": \"by a test\"}");
    let both = format!("{url},http://localhost:1");
    let ended =
        elastane(&["status", "--resource-manager", &both, "--delegation-token", text(&file)]);
    assert_eq!(ended.stderr, format!("elastane: {url}: by a test\n"));
}
