//! Requests that the agent accepts and refuses. These tests need no cgroups.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{io::Write, process::Command};

use common::{Agent, Tree, send_raw, skip, wait_until};
use elastane_protocol::{
    AgentRequest, AgentResponse, MAX_MESSAGE_BYTES, Reply, RunningContainer, VERSION, encode, frame,
};
use nix::unistd::geteuid;

fn agent(test: &str) -> Agent {
    Agent::start(&format!("elastane-test-{}-{test}", std::process::id()))
}

fn refused(response: &AgentResponse) -> &str {
    match response {
        AgentResponse::Refused(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn several_requests_may_follow_on_one_connection() {
    let agent = agent("several");
    let mut stream = agent.connect();
    for request in [AgentRequest::Containers(Vec::new()), AgentRequest::Collect] {
        frame::write(&mut stream, &request).unwrap();
        let response: AgentResponse = frame::read(&mut stream).unwrap();
        assert!(!matches!(response, AgentResponse::Refused(_)));
    }
}

#[test]
fn a_bad_frame_is_refused_and_the_agent_keeps_running() {
    let agent = agent("frames");
    let mut unknown_version = Vec::new();
    frame::write(&mut unknown_version, &AgentRequest::Collect).unwrap();
    unknown_version[4] = 99;
    let mut truncated = Vec::new();
    frame::write(&mut truncated, &AgentRequest::Collect).unwrap();
    truncated[0] += 5;
    let mut left_over = Vec::new();
    frame::write(&mut left_over, &AgentRequest::Collect).unwrap();
    left_over[0] += 1;
    left_over.push(0);
    for (bytes, reason) in [
        (unknown_version, "protocol version 99, this side speaks"),
        (truncated, "the connection failed"),
        (left_over, "1 bytes are left over"),
        (u32::MAX.to_le_bytes().to_vec(), "message of 4294967295 bytes"),
        (vec![1, 0, 0, 0, 0], "no room for the version"),
        (vec![3, 0], "the connection failed"),
    ] {
        for _ in 0..2 {
            let response = send_raw(&agent, &bytes);
            let text = refused(&response);
            assert!(text.contains(reason), "{text}");
        }
    }
    agent.report();
}

#[test]
fn an_invalid_request_is_refused_and_changes_nothing() {
    let agent = agent("requests");
    let tree = Tree::new("sleep 600");
    agent.runs(&[&tree]);
    let running = |container: &str, pid| RunningContainer {
        container: container.into(),
        pid,
        request_memory_bytes: 0,
    };
    let own_parent = std::process::id();
    for (list, reason) in [
        (vec![running("../../etc", 5)], "is not a container id"),
        (vec![running("container_1_1_1_1", 1)], "pid 1 of container_1_1_1_1"),
        (vec![running("container_1_1_1_1", own_parent)], "neither the agent nor its ancestor"),
    ] {
        let response = agent.ask(&AgentRequest::Containers(list));
        assert!(refused(&response).contains(reason), "{response:?}");
    }
    let ahead = Reply { acknowledged: u64::MAX, ..Reply::default() };
    let response = agent.ask(&AgentRequest::Apply(ahead));
    assert!(refused(&response).contains("the reply acknowledges sample"));
    let report = agent.report();
    assert_eq!(report.containers.len(), 1);
    assert_eq!(report.containers[0].container, tree.id);
}

#[test]
fn acknowledged_samples_are_not_reported_again() {
    let agent = agent("acknowledged");
    let tree = Tree::new("sleep 600");
    agent.runs(&[&tree]);
    wait_until("two samples", || agent.report().containers[0].samples.len() >= 2);
    let report = agent.report();
    assert!(report.capacity.cpu_cores >= 1.0);
    assert!(report.capacity.memory_bytes > 1 << 20);
    let first = report.containers[0].samples[0].sequence;
    let reply = Reply { acknowledged: first, ..Reply::default() };
    assert_eq!(agent.ask(&AgentRequest::Apply(reply)), AgentResponse::Done);
    let again = agent.report();
    assert_eq!(again.agent_run, report.agent_run);
    assert!(again.containers[0].samples[0].sequence > first);
}

#[test]
fn another_user_is_refused_before_the_request_is_read() {
    if !geteuid().is_root() {
        return skip("cannot become another user: not root");
    }
    // Python becomes another user by itself: that user may not read the interpreter's folder.
    let script = "import os, socket, sys\n\
        os.setgroups([])\n\
        os.setgid(65534)\n\
        os.setuid(65534)\n\
        s = socket.socket(socket.AF_UNIX)\n\
        s.connect(sys.argv[1])\n\
        s.settimeout(20)\n\
        sys.stdout.buffer.write(s.recv(4096))\n";
    let nobody = |socket: &std::path::Path| {
        let mut python = Command::new("python3");
        let output = python.args(["-c", script]).arg(socket).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        output.stdout
    };
    let agent = Agent::start_with(
        &format!("elastane-test-{}-peer", std::process::id()),
        "mode = \"0666\"\n",
    );
    open_to_all(agent.directory());
    let answer = nobody(&agent.socket());
    let response: AgentResponse = frame::read(&mut answer.as_slice()).unwrap();
    assert_eq!(refused(&response), "uid 65534 may not use this agent's socket");
    agent.report();

    let allowing = Agent::start_with(
        &format!("elastane-test-{}-allowed", std::process::id()),
        "mode = \"0666\"\nallowed_users = [65534]\n",
    );
    open_to_all(allowing.directory());
    let answer = nobody(&allowing.socket());
    assert!(answer.is_empty(), "the allowed user was refused");
}

fn open_to_all(directory: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_silent_peer_does_not_keep_others_out_for_long() {
    let agent = agent("silent");
    let mut silent = agent.connect();
    silent.write_all(&[9]).unwrap();
    // The client's timeout is longer than the agent's.
    agent.report();
}

#[test]
fn a_frame_built_by_hand_is_accepted() {
    let agent = agent("wire");
    let body = encode(&AgentRequest::Collect).unwrap();
    assert!(body.len() < MAX_MESSAGE_BYTES);
    let mut bytes = u32::try_from(body.len() + 2).unwrap().to_le_bytes().to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(body);
    assert!(matches!(send_raw(&agent, &bytes), AgentResponse::Report(_)));
}
