//! The processes that a peer without root may name as containers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{
    collections::BTreeSet,
    fs::{self, Permissions},
    io::{BufRead, BufReader, Read, Write},
    os::unix::fs::PermissionsExt,
    process::{Child, ChildStdout, Command, Stdio},
};

use common::{Agent, Parent, Tree, skip, wait_until};
use elastane_protocol::{AgentRequest, AgentResponse, RunningContainer, frame};
use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, geteuid},
};

/// The only user that this agent allows besides root.
const NODE_MANAGER: u32 = 65534;
const OTHER: u32 = 65533;

/// Starts a child as another user and prints its pid, becomes the NodeManager's user, sends its
/// standard input to the agent, and prints the answer.
const CLIENT: &str = "\
import os, socket, subprocess, sys
nothing = subprocess.DEVNULL
child = subprocess.Popen(['sleep', '60'], user=int(sys.argv[3]), stdin=nothing, stdout=nothing)
print(child.pid, flush=True)
os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
agent = socket.socket(socket.AF_UNIX)
agent.connect(sys.argv[1])
agent.sendall(sys.stdin.buffer.read())
agent.shutdown(socket.SHUT_WR)
while answer := agent.recv(4096):
    sys.stdout.buffer.write(answer)
";

struct NodeManager {
    client: Child,
    answer: BufReader<ChildStdout>,
    child_of_other: u32,
}

impl NodeManager {
    fn new(agent: &Agent) -> Self {
        let mut client = Command::new("python3")
            .args(["-c", CLIENT])
            .arg(agent.socket())
            .args([NODE_MANAGER.to_string(), OTHER.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut answer = BufReader::new(client.stdout.take().unwrap());
        let mut pid = String::new();
        answer.read_line(&mut pid).unwrap();
        let child_of_other = pid.trim().parse().unwrap();
        Self { client, answer, child_of_other }
    }

    fn names(mut self, list: Vec<RunningContainer>) {
        let mut stdin = self.client.stdin.take().unwrap();
        let mut request = Vec::new();
        frame::write(&mut request, &AgentRequest::Containers(list)).unwrap();
        stdin.write_all(&request).unwrap();
        drop(stdin);
        let mut answer = Vec::new();
        self.answer.read_to_end(&mut answer).unwrap();
        let answer: AgentResponse = frame::read(&mut answer.as_slice()).unwrap();
        assert_eq!(answer, AgentResponse::Done);
    }
}

impl Drop for NodeManager {
    fn drop(&mut self) {
        let child = Pid::from_raw(i32::try_from(self.child_of_other).unwrap());
        let _ = kill(child, Signal::SIGKILL);
        let _ = self.client.wait();
    }
}

fn agent(parent: &str) -> Agent {
    let sections = format!("mode = \"0666\"\nallowed_users = [{NODE_MANAGER}]\n");
    let agent = Agent::start_with(parent, &sections);
    fs::set_permissions(agent.directory(), Permissions::from_mode(0o755)).unwrap();
    agent
}

fn sleeps_as(user: u32) -> Tree {
    Tree::new(&format!("exec setpriv --reuid={user} --clear-groups sleep 600"))
}

fn followed(agent: &Agent) -> BTreeSet<String> {
    let containers = agent.report().containers.into_iter();
    containers.map(|container| container.container).collect()
}

#[test]
fn a_job_can_name_neither_roots_nor_other_users_processes() {
    if !geteuid().is_root() {
        return skip("cannot become another user: not root");
    }
    let agent = agent(&format!("elastane-test-{}-peers", std::process::id()));
    let (roots, others, own) = (Tree::new("sleep 600"), sleeps_as(OTHER), sleeps_as(NODE_MANAGER));
    let node_manager = NodeManager::new(&agent);
    let child = RunningContainer {
        container: "container_1_0001_01_000099".into(),
        pid: node_manager.child_of_other,
        request_memory_bytes: 0,
    };
    for (tree, uid) in [(&others, OTHER), (&own, NODE_MANAGER)] {
        wait_until("the tree has changed its user", || tree.uid() == uid);
    }
    let list = [&roots, &others, &own].map(Tree::running);
    node_manager.names(list.into_iter().chain([child.clone()]).collect());
    assert_eq!(followed(&agent), BTreeSet::from([child.container, own.id.clone()]));
    // Root may name them.
    agent.runs(&[&roots, &others]);
    let followed = followed(&agent);
    assert!(followed.contains(&roots.id) && followed.contains(&others.id));
}

#[test]
fn another_users_process_in_the_executors_group_is_accepted() {
    let Some(parent) = Parent::new() else { return };
    let agent = agent(&format!("{}/own", parent.name));
    let (tree, other) = (sleeps_as(OTHER), sleeps_as(OTHER));
    parent.hold_as_executor(&tree, &["cpu", "cpuacct"]);
    for tree in [&tree, &other] {
        wait_until("the tree has changed its user", || tree.uid() == OTHER);
    }
    NodeManager::new(&agent).names(vec![tree.running(), other.running()]);
    assert_eq!(followed(&agent), BTreeSet::from([tree.id.clone()]));
}

#[test]
fn a_kernel_thread_is_refused() {
    let agent = Agent::start(&format!("elastane-test-{}-kernel", std::process::id()));
    let is_thread = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.contains(") S 2 0 0") || stat.contains(") I 2 0 0")
    };
    let Some(pid) = (3..1000).find(is_thread) else {
        return skip("no kernel thread is visible");
    };
    let thread = RunningContainer {
        container: "container_1_0001_01_000001".into(),
        pid,
        request_memory_bytes: 0,
    };
    let list = AgentRequest::Containers(vec![thread]);
    assert_eq!(agent.ask(&list), AgentResponse::Done);
    assert!(followed(&agent).is_empty());
}
