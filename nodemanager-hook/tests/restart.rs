//! An agent may be killed at any time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{
    collections::BTreeSet,
    fs,
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{
    Agent, PATIENCE, Parent, Tree, quota_us, set_quota_us, set_shares, shares, times_slower,
    wait_until,
};
use elastane_protocol::{
    AgentRequest, AgentResponse, ContainerPlan, Limits, Reply, RunningContainer, frame,
};
use nix::sys::signal::Signal;

/// The output of a command that must end by itself.
fn ended(command: &mut Command) -> Output {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("the command does not end");
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_next_agent_undoes_all_changes_of_a_killed_one() {
    let Some(outer) = Parent::unrestricted() else { return };
    let Some(parent) = Parent::new() else { return };
    let mut agent = Agent::start(&parent.name);
    let tree = Tree::new("sleep 600");
    outer.hold(&tree);
    let before = tree.place();
    let kill_and_start_again = |agent: &mut Agent| {
        agent.signal(Signal::SIGKILL);
        agent.start_again();
        assert_eq!((tree.place(), parent.inner()), (before.clone(), 0));
        agent.runs(&[&tree]);
        assert_eq!((tree.place(), parent.inner()), (before.clone(), 0));
    };
    let plan = || vec![tree.plan(&[(0, 2.0, Some(0.2))])];
    // Without a plan, with one, after it has run out, and with another one.
    agent.runs(&[&tree]);
    kill_and_start_again(&mut agent);
    agent.apply(60_000, plan());
    assert_eq!(parent.quota_us(&tree), 20_000);
    kill_and_start_again(&mut agent);
    agent.apply(500, plan());
    wait_until("the end of the plan", || parent.inner() == 0);
    kill_and_start_again(&mut agent);
    agent.apply(60_000, plan());
    assert_eq!(parent.quota_us(&tree), 20_000);
    assert!(agent.signal(Signal::SIGINT).success());
    assert_eq!((tree.place(), parent.inner()), (before, 0));
}

#[test]
fn an_agent_killed_during_a_move_leaves_no_process_in_its_groups() {
    let Some(parent) = Parent::new() else { return };
    let mut agent = Agent::start(&parent.name);
    let script = "for i in $(seq 40); do sleep 600 & done; wait";
    let trees = [(); 3].map(|()| Tree::new(script));
    wait_until("the trees have grown", || trees.iter().all(|tree| tree.processes().len() == 41));
    let before = groups_of(&trees);
    assert_eq!(before.len(), 1);
    let plans = || trees.iter().map(|tree| tree.plan(&[(0, 2.0, Some(0.2))]));
    let mut were_caught = 0;
    // Killed as soon as this many processes of this tree are in their group.
    let moments = [(0, 1), (0, 20), (0, 41), (1, 1), (1, 20), (2, 1), (2, 20)];
    // On a busy machine the kill comes late, so the moments are tried again until one was in the middle.
    let rounds = 4 * moments.len();
    for (number, (tree, processes)) in moments.into_iter().cycle().take(rounds).enumerate() {
        if number >= moments.len() && were_caught > 0 {
            break;
        }
        agent.runs(&[&trees[0], &trees[1], &trees[2]]);
        // In a hierarchy that only counts the network, the processes are in own groups already.
        let unlimited = groups_of(&trees);
        let request = AgentRequest::Apply(Reply {
            acknowledged: 0,
            valid_for_ms: 60_000,
            plans: plans().collect(),
            ..Reply::default()
        });
        frame::write(&mut agent.connect(), &request).unwrap();
        let inside = parent.group_of(&trees[tree]).join("cgroup.procs");
        wait_busily("processes are moved", || {
            let pids = fs::read_to_string(&inside).unwrap_or_default();
            pids.lines().count() >= processes
        });
        agent.signal(Signal::SIGKILL);
        let groups = groups_of(&trees);
        were_caught += usize::from(!groups.is_disjoint(&unlimited));
        assert_ne!(groups, unlimited);
        agent.start_again();
        assert_eq!((groups_of(&trees), parent.inner()), (before.clone(), 0));
    }
    assert!(were_caught > 0, "no kill came in the middle of a move");
}

/// Polls without a pause, to catch a short moment.
fn wait_busily(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "timed out: {what}");
    }
}

/// The groups of all processes of the trees.
fn groups_of(trees: &[Tree]) -> BTreeSet<String> {
    let processes = trees.iter().flat_map(Tree::processes);
    let cgroup = |(pid, _)| fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    processes.map(cgroup).collect()
}

#[test]
fn restore_undoes_the_changes_of_a_killed_agent() {
    let Some(parent) = Parent::new() else { return };
    let mut agent = Agent::start(&format!("{}/made", parent.name));
    let tree = Tree::new("sleep 600");
    let before = tree.place();
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.plan(&[(0, 2.0, Some(0.2))])]);
    assert_ne!(tree.place(), before);
    let restore = |agent: &Agent| {
        let mut command = agent.command();
        command.args(["restore", "--config"]).arg(agent.config());
        ended(&mut command)
    };
    let refused = restore(&agent);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("an agent already listens on"));

    agent.signal(Signal::SIGKILL);
    let restored = restore(&agent);
    assert!(restored.status.success(), "{}", text(&restored));
    assert_eq!((tree.place(), parent.inner()), (before, 0));
    assert!(!agent.socket().exists());
    assert!(!agent.directory().join("agent.sock.journal").exists());
}

#[test]
fn restore_makes_nothing_itself() {
    let Some(parent) = Parent::new() else { return };
    let sections = "[network]\nbackend = \"nft\"\n";
    let agent = Agent::prepare_with(&format!("{}/made", parent.name), "", sections);
    let called = agent.directory().join("called");
    let nft = agent.directory().join("nft");
    fs::write(&nft, format!("#!/bin/sh\necho \"$@\" >>{}\nexit 1\n", called.display())).unwrap();
    fs::set_permissions(&nft, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", agent.directory().display(), env!("PATH"));
    let mut restore = agent.command();
    restore.args(["restore", "--config"]).arg(agent.config()).env("PATH", path);
    let restored = ended(&mut restore);
    assert!(restored.status.success(), "{}", text(&restored));
    assert!(!called.exists(), "{}", fs::read_to_string(&called).unwrap());
    assert_eq!(parent.inner(), 0);
    assert!(!agent.socket().exists());
}

/// Everything that an agent may change: groups, their limits, and the processes' groups.
fn traces(parent: &Parent, trees: &[&Tree], executors: &Path) -> Vec<String> {
    let mut traces: Vec<String> = trees.iter().flat_map(|tree| tree.place()).collect();
    traces.push(format!("groups {}", parent.inner()));
    traces.push(format!("shares {}", shares(executors)));
    traces.push(format!("quota {}", quota_us(executors)));
    for group in parent.groups() {
        let passed_on = fs::read_to_string(group.join("cgroup.subtree_control"));
        traces.push(passed_on.unwrap_or_default());
    }
    traces
}

#[test]
fn restore_undoes_all_changes_of_an_agent_killed_while_plans_change() {
    let Some(parent) = Parent::new() else { return };
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let sections = format!("[disk]\nlocal_dirs = [\"{}\"]\n", directory.path().display());
    let script = "for i in 1 2 3 4; do sleep 600 & done; wait";
    let (one, other, held) = (Tree::new(script), Tree::new(script), Tree::new("sleep 600"));
    let executors = parent.hold_as_executor(&held, &["cpu", "cpuacct"]);
    set_shares(&executors, 3000);
    set_quota_us(&executors, 150_000);
    let trees = [&one, &other, &held];
    let mut agent = Agent::start_with(&format!("{}/own", parent.name), &sections);
    agent.signal(Signal::SIGTERM);
    let before = traces(&parent, &trees, &executors);
    for round in 0..20 / u64::from(times_slower()) {
        agent.start_again();
        let socket = agent.socket();
        let lists = trees.map(Tree::running);
        let plans = [1, 2, 3].map(|number: u32| {
            let limits = Limits {
                cpu_weight_cores: Some(number as f32),
                cpu_cap_cores: (number != 2).then_some(0.1 * number as f32),
                memory_bytes: (number != 3).then_some(u64::from(number) << 29),
                disk_cap_bytes_per_s: (number == 1).then_some(50_000_000),
                ..Limits::default()
            };
            let limited = &trees[..number as usize];
            limited.iter().map(|tree| tree.limited(limits)).collect()
        });
        let changing = thread::spawn(move || change_plans(&socket, lists.to_vec(), &plans));
        wait_busily("the first change", || traces(&parent, &trees, &executors) != before);
        // Moments spread over the exchanges, each a different one.
        thread::sleep(Duration::from_millis(round * 37 % 101));
        agent.signal(Signal::SIGKILL);
        changing.join().unwrap();
        assert_ne!(traces(&parent, &trees, &executors), before);
        let mut restore = agent.command();
        restore.args(["restore", "--config"]).arg(agent.config());
        let restored = ended(&mut restore);
        assert!(restored.status.success(), "{round}: {}", text(&restored));
        let after = traces(&parent, &trees, &executors);
        assert_eq!(after, before, "{round}: {}", text(&restored));
    }
}

/// Sends one plan after the other until the agent no longer answers.
fn change_plans(socket: &Path, list: Vec<RunningContainer>, plans: &[Vec<ContainerPlan>]) {
    for plans in plans.iter().cycle() {
        let reply = Reply {
            acknowledged: 0,
            valid_for_ms: 60_000,
            plans: plans.clone(),
            ..Reply::default()
        };
        let requests = [AgentRequest::Containers(list.clone()), AgentRequest::Apply(reply)];
        let Ok(mut stream) = UnixStream::connect(socket) else {
            return;
        };
        for request in &requests {
            let sent = frame::write(&mut stream, request);
            let answer = sent.and_then(|()| frame::read::<AgentResponse>(&mut stream));
            if answer.is_err() {
                return;
            }
        }
    }
}

#[test]
fn in_a_parent_that_is_yarns_too_only_the_agents_groups_are_touched() {
    let Some(parent) = Parent::new() else { return };
    let tree = Tree::new("sleep 600");
    for group in parent.groups() {
        let executors = group.join(&tree.id);
        fs::create_dir(&executors).unwrap();
        fs::write(executors.join("cgroup.procs"), tree.pid().to_string()).unwrap();
    }
    let before = (tree.place(), parent.inner());
    let mut agent = Agent::start(&parent.name);
    assert_eq!((tree.place(), parent.inner()), before);
    agent.signal(Signal::SIGTERM);
    assert_eq!((tree.place(), parent.inner()), before);
}

#[test]
fn a_second_agent_refuses_to_start() {
    let agent = Agent::start(&format!("elastane-test-{}-second", std::process::id()));
    let mut second = agent.command();
    second.args(["run", "--config"]).arg(agent.config());
    let output = ended(&mut second);
    assert_eq!(output.status.code(), Some(2));
    let expected =
        format!("elastane-agent: an agent already listens on {}\n", agent.socket().display());
    assert_eq!(text(&output), expected);
    agent.report();
}

#[test]
fn two_agents_never_share_a_parent() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let other = tempfile::tempdir().unwrap();
    let config = other.path().join("agent.toml");
    let socket = other.path().join("agent.sock");
    let text_of_config = format!(
        "[cgroup]\nparent = \"{}\"\n[socket]\npath = \"{}\"\n",
        parent.name,
        socket.display()
    );
    fs::write(&config, text_of_config).unwrap();
    let mut second = agent.command();
    let output = ended(second.args(["run", "--config"]).arg(&config));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("belongs to another running agent"));
    assert!(!socket.exists());
}
