//! Who gives way when a node's memory runs short, and who never does.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{
    GB, NODE, START_MS, journal, learn_named, named_submission, open, register, request, settings,
    unencoded_report,
};
use elastane_core::ContainerKind;
use elastane_core::cluster::{ApplicationId, CommitRequest, NodeId};
use elastane_protocol::{
    DecommissionOutcome, Decommissioned, MemoryVictim, Reply, Report, VERSION, decode, encode,
};
use elastane_runtime::Elastane;

const WAIT_MS: i64 = 15_000;

/// A node of 8 GB whose agent reports, and an application that holds 1 GB in each container.
struct Scene {
    folder: tempfile::TempDir,
    elastane: Elastane,
    node: NodeId,
    application: ApplicationId,
}

impl Scene {
    fn new(mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        learn_named(folder.path(), &[("learned", &[0.1; 100])]);
        let elastane = open(folder.path(), mode);
        let node = register(&elastane);
        let submission = named_submission("application_1_0099", "learned");
        let application = elastane.application_added(&submission, START_MS);
        let scene = Self { folder, elastane, node, application };
        scene.names(&[], START_MS);
        scene
    }

    /// A container that asks for 3 GB.
    fn start(&self, container: &str, kind: ContainerKind, start_ms: i64) {
        let commit = CommitRequest {
            container,
            application: self.application,
            node: self.node,
            kind,
            request: request(3),
            may_refuse: false,
            start_ms,
        };
        assert!(self.elastane.commit(commit, start_ms));
    }

    /// "a" and "b" fit the 8 GB by requests, "c" and "d" don't.
    fn of_four(mode: &str) -> Self {
        let scene = Self::new(mode);
        for (later_ms, container) in (0..).zip(["a", "b", "c", "d"]) {
            scene.start(container, ContainerKind::DEFAULT_EXECUTOR, START_MS + later_ms);
        }
        scene
    }

    /// The agent reports, and names these.
    fn names(&self, victims: &[&str], now_ms: i64) {
        self.tells(victims, None, now_ms);
    }

    /// The agent reports, names these, and tells what became of its order; gives the orders for it.
    fn tells(
        &self,
        victims: &[&str],
        outcome: Option<(&str, DecommissionOutcome)>,
        now_ms: i64,
    ) -> Vec<String> {
        let outcomes = outcome.into_iter().map(|(container, outcome)| Decommissioned {
            container: container.to_owned(),
            outcome,
        });
        let report = Report {
            memory_victims: victims.iter().map(|container| victim(container)).collect(),
            decommissioned: outcomes.collect(),
            ..unencoded_report(1, &[])
        };
        let body = encode(&report).unwrap();
        let reply = self.elastane.report(NODE, VERSION, &body, now_ms).unwrap();
        decode::<Reply>(VERSION, &reply).unwrap().decommission
    }

    /// What is to be done now: "c told", "c killed".
    fn orders(&self, now_ms: i64) -> Vec<String> {
        let orders = self.elastane.preemption_orders(WAIT_MS, now_ms);
        orders
            .iter()
            .map(|order| {
                let what = if order.kill { "killed" } else { "told" };
                format!("{} {what}", order.container)
            })
            .collect()
    }

    /// Names these with every report, and collects what is ordered, each with its second.
    fn named_until(&self, victims: &[&str], until_s: i64) -> Vec<String> {
        let mut orders = Vec::new();
        for second in 0..=until_s {
            let now_ms = START_MS + second * 1_000;
            if second % 3 == 0 {
                self.names(victims, now_ms);
            }
            for order in self.orders(now_ms) {
                let container = order.split(' ').next().unwrap();
                if order.ends_with("killed") {
                    self.elastane.finished(container, now_ms);
                }
                orders.push(format!("{second}: {order}"));
            }
        }
        orders
    }

    /// Container, outcome and reason of each preemption in the journal.
    fn journal(self) -> Vec<(String, String, String)> {
        let records = self.records("preemption", ["container", "outcome", "reason"]);
        records.into_iter().map(Into::into).collect()
    }

    /// These fields of each record of a kind in the journal.
    fn records<const FIELDS: usize>(
        self,
        kind: &str,
        fields: [&str; FIELDS],
    ) -> Vec<[String; FIELDS]> {
        self.elastane.close();
        let all = journal(self.folder.path());
        let of_kind = all.iter().filter(|record| record["kind"] == kind);
        of_kind.map(|record| fields.map(|key| record[key].as_str().unwrap().to_owned())).collect()
    }
}

fn victim(container: &str) -> MemoryVictim {
    MemoryVictim { container: container.to_owned(), resident_bytes: 3 * GB, short_bytes: GB }
}

/// "d" has run for some time when the agent names it; the second of the report in which it is to leave.
const NAMED_S: i64 = 30;
const LEAVES_S: i64 = NAMED_S + 6;

fn at(second: i64) -> i64 {
    START_MS + second * 1_000
}

#[test]
fn an_executor_that_was_told_to_leave_has_a_minute() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], at(NAMED_S));
    assert_eq!(scene.orders(at(NAMED_S)), ["d told"]);
    assert_eq!(scene.tells(&["d"], None, at(LEAVES_S - 1)), [""; 0], "it may be over soon");
    assert_eq!(scene.tells(&["d"], None, at(LEAVES_S)), ["d"]);
    assert_eq!(scene.tells(&["d"], None, at(LEAVES_S + 3)), ["d"], "a reply may be lost");
    let told = Some(("d", DecommissionOutcome::Signalled));
    let told_s = LEAVES_S + 6;
    let mut killed = Vec::new();
    for second in told_s..=told_s + 61 {
        assert_eq!(scene.tells(&["d"], told, at(second)), [""; 0]);
        let orders = scene.orders(at(second)).into_iter();
        killed.extend(orders.map(|order| format!("{}: {order}", second - told_s)));
    }
    assert_eq!(killed, ["60: d killed"]);
}

#[test]
fn an_order_whose_outcome_never_comes_postpones_the_preemption_once() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], at(NAMED_S));
    assert_eq!(scene.orders(at(NAMED_S)), ["d told"]);
    let mut killed = Vec::new();
    for second in LEAVES_S..=NAMED_S + 60 {
        scene.tells(&["d"], None, at(second));
        let orders = scene.orders(at(second)).into_iter();
        killed.extend(orders.map(|order| format!("{}: {order}", second - LEAVES_S)));
    }
    assert_eq!(killed[0], "10: d killed");
}

#[test]
fn an_executor_that_leaves_after_the_shortage_is_not_spared_and_nobody_else_gives_way() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], at(NAMED_S));
    assert_eq!(scene.orders(at(NAMED_S)), ["d told"]);
    assert_eq!(scene.tells(&["d"], None, at(LEAVES_S)), ["d"]);
    let told = Some(("d", DecommissionOutcome::Signalled));
    scene.tells(&[], told, at(LEAVES_S + 3));
    scene.tells(&["c"], told, at(LEAVES_S + 30));
    assert_eq!(scene.orders(at(LEAVES_S + 30)), [""; 0]);
    let outcomes = scene.records("preemption", ["container", "outcome"]);
    assert_eq!(outcomes, [["d", "told"]]);
}

#[test]
fn an_executor_that_does_not_handle_the_signal_is_preempted_as_before() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], at(NAMED_S));
    assert_eq!(scene.orders(at(NAMED_S)), ["d told"]);
    assert_eq!(scene.tells(&["d"], None, at(LEAVES_S)), ["d"]);
    let stays = Some(("d", DecommissionOutcome::NotHandled));
    assert_eq!(scene.tells(&["d"], stays, at(LEAVES_S + 3)), ["d"], "it may handle it later");
    scene.tells(&["d"], stays, at(NAMED_S + 14));
    assert_eq!(scene.orders(at(NAMED_S + 14)), [""; 0]);
    assert_eq!(scene.orders(at(NAMED_S + 15)), ["d killed"]);
}

#[test]
fn a_shortage_that_ends_in_time_costs_no_executor() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], at(NAMED_S));
    assert_eq!(scene.orders(at(NAMED_S)), ["d told"]);
    assert_eq!(scene.tells(&[], None, at(LEAVES_S)), [""; 0]);
}

#[test]
fn a_young_executor_is_not_told_to_leave() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], at(0));
    assert_eq!(scene.orders(at(0)), ["d told"]);
    assert_eq!(scene.tells(&["d"], None, at(9)), [""; 0]);
}

#[test]
fn where_killing_comes_first_or_nothing_is_enforced_nobody_is_told_to_leave() {
    for (mode, first) in [("enforce", "kill"), ("observe", "decommission")] {
        let scene = Scene::of_four("enforce");
        scene.names(&["d"], at(NAMED_S));
        assert_eq!(scene.orders(at(NAMED_S)), ["d told"]);
        let settings = settings(scene.folder.path(), mode, &[("preempt.first", first)]);
        scene.elastane.apply_settings(settings).unwrap();
        assert_eq!(scene.tells(&["d"], None, at(LEAVES_S)), [""; 0], "{mode}, {first}");
    }
}

#[test]
fn an_executor_that_has_left_before_its_agent_reports_is_in_the_journal() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], at(NAMED_S));
    assert_eq!(scene.orders(at(NAMED_S)), ["d told"]);
    assert_eq!(scene.tells(&["d"], None, at(LEAVES_S)), ["d"]);
    scene.elastane.finished("d", at(LEAVES_S + 1));
    let told = Some(("d", DecommissionOutcome::Signalled));
    for second in [LEAVES_S + 3, LEAVES_S + 6] {
        assert_eq!(scene.tells(&[], told, at(second)), [""; 0]);
    }
    assert_eq!(scene.records("migration", ["container", "state"]), [["d", "leaves"]]);
}

#[test]
fn a_core_that_has_not_asked_lets_those_leave_that_were_told() {
    let scene = Scene::of_four("enforce");
    let told = Some(("d", DecommissionOutcome::Signalled));
    for second in NAMED_S..NAMED_S + 60 {
        assert_eq!(scene.tells(&["d"], told, at(second)), [""; 0]);
        assert_eq!(scene.orders(at(second)), [""; 0]);
    }
    scene.tells(&["d"], told, at(NAMED_S + 60));
    assert_eq!(scene.orders(at(NAMED_S + 60)), ["d told"]);
}

#[test]
fn the_first_named_that_is_overcommitted_is_told_and_ends_after_the_wait() {
    let scene = Scene::of_four("enforce");
    let orders = scene.named_until(&["d", "c"], 31);
    assert_eq!(
        orders,
        ["0: d told", "15: d killed", "21: c told"],
        "the next one only when it shows that the first is gone"
    );
}

#[test]
fn the_next_one_is_not_chosen_before_what_the_first_gave_back_can_be_seen() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], START_MS);
    assert_eq!(scene.orders(START_MS), ["d told"]);
    scene.elastane.finished("d", START_MS + 1_000);
    // The agent has not seen yet that it ended.
    scene.names(&["d", "c"], START_MS + 3_000);
    assert_eq!(scene.orders(START_MS + 3_000), [""; 0]);
    scene.names(&["c"], START_MS + 12_000);
    assert_eq!(scene.orders(START_MS + 12_000), ["c told"]);
    let said: Vec<_> = scene.journal().into_iter().map(|record| record.1).collect();
    assert_eq!(said, ["told", "told"], "nothing is said of one that ended");
}

#[test]
fn what_fits_by_requests_never_gives_way() {
    let scene = Scene::of_four("enforce");
    assert_eq!(scene.named_until(&["a", "b"], 31), [""; 0]);
    let refused = scene.journal();
    assert_eq!(refused.len(), 2, "each is said once: {refused:?}");
    for (_, outcome, reason) in refused {
        assert_eq!(outcome, "refused");
        assert!(reason.contains("fit the node's registered memory"), "{reason}");
    }
}

#[test]
fn what_does_not_run_there_is_refused() {
    let scene = Scene::of_four("enforce");
    assert_eq!(scene.named_until(&["z"], 31), [""; 0]);
    assert_eq!(scene.journal()[0].2, "it does not run on this node");
}

#[test]
fn an_application_master_gives_way_only_where_nothing_else_can() {
    let scene = Scene::new("enforce");
    let executor = ContainerKind::DEFAULT_EXECUTOR;
    scene.start("a", executor, START_MS);
    scene.start("b", executor, START_MS + 1);
    scene.start("master", ContainerKind::ApplicationMaster, START_MS + 2);
    scene.start("d", executor, START_MS + 3);
    scene.names(&["master", "d"], START_MS + 3_000);
    assert_eq!(scene.orders(START_MS + 3_000), ["d told"]);
    scene.elastane.finished("d", START_MS + 4_000);
    scene.names(&["master"], START_MS + 15_000);
    assert_eq!(scene.orders(START_MS + 15_000), ["master told"]);
}

#[test]
fn what_is_not_named_any_more_is_spared() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], START_MS);
    assert_eq!(scene.orders(START_MS), ["d told"]);
    scene.names(&[], START_MS + 3_000);
    assert_eq!(scene.orders(START_MS + 16_000), [""; 0]);
    let outcomes: Vec<_> = scene.journal().into_iter().map(|record| record.1).collect();
    assert_eq!(outcomes, ["told", "spared"]);
}

#[test]
fn what_fits_since_another_one_ended_is_spared() {
    let scene = Scene::of_four("enforce");
    scene.names(&["c"], START_MS);
    assert_eq!(scene.orders(START_MS), ["c told"]);
    scene.elastane.finished("a", START_MS + 1_000);
    let later_ms = START_MS + 18_000;
    assert_eq!(scene.orders(later_ms), [""; 0]);
    scene.names(&["c"], later_ms);
    let outcomes: Vec<_> = scene.journal().into_iter().map(|record| record.1).collect();
    assert_eq!(outcomes, ["told", "spared", "refused"]);
}

#[test]
fn an_agent_that_fell_silent_ends_nothing() {
    let scene = Scene::of_four("enforce");
    // A raised node stays the core's to decide about until it is lowered.
    assert_eq!(scene.elastane.bookable_changes(9, START_MS).len(), 1);
    scene.names(&["d"], START_MS);
    assert_eq!(scene.orders(START_MS), ["d told"]);
    assert_eq!(scene.orders(START_MS + 16_000), [""; 0]);
}

#[test]
fn a_container_that_is_still_there_is_ended_again_after_ten_seconds() {
    let scene = Scene::of_four("enforce");
    scene.names(&["d"], START_MS);
    assert_eq!(scene.orders(START_MS), ["d told"]);
    let mut killed = Vec::new();
    for second in 1..=36 {
        let now_ms = START_MS + second * 1_000;
        scene.names(&["d"], now_ms);
        killed.extend(scene.orders(now_ms).into_iter().map(|_| second));
    }
    assert_eq!(killed, [15, 25, 35]);
}

#[test]
fn in_observe_it_is_only_said_what_would_be_done() {
    let scene = Scene::of_four("observe");
    assert_eq!(scene.named_until(&["d"], 31), [""; 0]);
    let said = scene.journal();
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0].1, "observed");
}

#[test]
fn a_node_that_holds_too_much_gives_way_after_enforce_was_left() {
    let scene = Scene::of_four("enforce");
    let change = |elastane: &Elastane| elastane.bookable_changes(1, START_MS)[0].ratio.is_raised();
    assert!(change(&scene.elastane), "as far as is booked");
    scene.elastane.apply_settings(settings(scene.folder.path(), "observe", &[])).unwrap();
    assert!(!change(&scene.elastane));
    assert_eq!(scene.named_until(&["d"], 15), ["0: d told", "15: d killed"]);
    scene.elastane.finished("c", START_MS);
    assert_eq!(scene.named_until(&["b"], 31), [""; 0], "it holds no more than its size");
}

#[test]
fn status_counts_what_became_of_them() {
    let scene = Scene::of_four("enforce");
    scene.named_until(&["a", "d"], 15);
    let status: serde_json::Value = serde_json::from_str(&scene.elastane.status(START_MS)).unwrap();
    assert_eq!(status["memory_preemptions"], 1);
    assert_eq!(status["refused_memory_victims"], 1);
    assert_eq!(status["spared_memory_victims"], 0);
}
