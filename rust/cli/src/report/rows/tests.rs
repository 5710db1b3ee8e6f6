use std::sync::Arc;

use elastane_runs::{HOUR_MS, LedgerSubject, NodesHour};

use super::super::savings::{CouldAskLess, MeanPrices, Saved};

use super::*;

const GB: u64 = 1 << 30;

/// One hour of a container of 1 core and 4 GB, which used so much.
fn entry(number: i64, user: &str, used_cores: f64, used_gb: f64) -> LedgerEntry {
    LedgerEntry {
        subject: Arc::new(LedgerSubject {
            application_id: format!("application_1_{number:04}"),
            queue: "root.a".to_owned(),
            application_key: format!("app|{user}"),
            application_name: format!("run {number}"),
            user: user.to_owned(),
        }),
        hour_ms: number * HOUR_MS,
        sums: LedgerSums {
            containers: 2,
            booked_vcore_s: 3_600.0,
            booked_byte_s: 4.0 * 3_600.0 * GB as f64,
            measured_vcore_s: 1_800.0,
            measured_byte_s: 2.0 * 3_600.0 * GB as f64,
            used_core_s: used_cores * 1_800.0,
            used_byte_s: used_gb * 1_800.0 * GB as f64,
            core_cost: 3.0,
            memory_cost: 8.0,
            largest_request_bytes: 4 * GB,
            largest_use_bytes: (used_gb * GB as f64) as u64,
        },
    }
}

#[test]
fn waste_is_of_the_time_that_was_measured() {
    let rows = Rows::of(vec![entry(1, "ann", 0.25, 1.0)], By::Run);
    let amounts = rows.rows[0].amounts;
    assert_eq!((amounts.booked_core_hours, amounts.booked_gb_hours), (1.0, 4.0));
    assert_eq!((amounts.used_core_hours, amounts.used_gb_hours), (0.125, 0.5));
    assert_eq!((amounts.wasted_core_hours, amounts.wasted_gb_hours), (0.375, 1.5));
    assert_eq!(amounts.measured_memory(), 0.5);
    assert_eq!((amounts.wasted_cores(), amounts.wasted_memory()), (0.75, 0.75));
    assert_eq!((amounts.cost, amounts.wasted_cost), (11.0, (3.0 + 8.0) * 0.375));
    assert_eq!(rows.total, amounts);
}

#[test]
fn who_uses_more_than_booked_makes_up_for_no_other_run() {
    let rows = Rows::of(vec![entry(1, "ann", 3.0, 1.0), entry(2, "ann", 0.5, 1.0)], By::User);
    assert_eq!(rows.rows.len(), 1);
    let amounts = rows.rows[0].amounts;
    assert_eq!((amounts.runs, amounts.containers), (2, 4));
    assert_eq!(amounts.used_core_hours, 1.75);
    assert_eq!(amounts.wasted_core_hours, 0.25);
    assert_eq!(amounts.wasted_cores(), 0.25, "of the hour of both that was measured");
}

#[test]
fn a_run_that_moved_is_one_run_and_each_queue_has_its_part() {
    let moved = |queue: &str| {
        let mut one = entry(1, "ann", 0.5, 1.0);
        let subject = LedgerSubject { queue: queue.to_owned(), ..(*one.subject).clone() };
        one.subject = Arc::new(subject);
        one
    };
    let entries = || [moved("root.a"), moved("root.b")];
    let by_user = Rows::of(entries(), By::User);
    assert_eq!((by_user.total.runs, by_user.rows[0].amounts.runs), (1, 1));
    assert_eq!(by_user.total.booked_core_hours, 2.0);
    let by_queue = Rows::of(entries(), By::Queue);
    let booked = |row: &Row| (row.amounts.runs, row.amounts.booked_core_hours);
    assert_eq!(by_queue.rows.iter().map(booked).collect::<Vec<_>>(), [(1, 1.0), (1, 1.0)]);
}

#[test]
fn the_largest_waste_comes_first_and_an_application_has_its_latest_name() {
    let entries =
        || vec![entry(1, "ann", 0.5, 3.5), entry(3, "bob", 0.5, 1.0), entry(2, "bob", 0.5, 1.0)];
    let rows = Rows::of(entries(), By::Application);
    let shown: Vec<_> =
        rows.rows.iter().map(|row| (row.subject.of.as_str(), row.subject.name.as_str())).collect();
    assert_eq!(shown, [("app|bob", "run 3"), ("app|ann", "run 1")]);
    assert_eq!((rows.top(1).0.len(), rows.top(1).1), (1, 1));
    assert_eq!((rows.top(0).0.len(), rows.top(9).1), (2, 0));
    assert_eq!(Rows::of(entries(), By::Queue).rows[0].subject.of, "root.a");
    assert_eq!(Rows::of(entries(), By::Run).rows.len(), 3);
}

#[test]
fn what_would_do_is_the_most_used_with_a_margin_where_that_is_worth_a_change() {
    let could_ask = |used_gb, by| {
        Rows::of(vec![entry(1, "ann", 0.5, used_gb)], by).rows[0].executors.could_ask_bytes
    };
    assert_eq!(could_ask(1.0, By::Run), Some(5 * STEP_BYTES), "1.2 GB in steps of 256 MB");
    assert_eq!(could_ask(1.0, By::Application), Some(5 * STEP_BYTES));
    assert_eq!(could_ask(3.1, By::Run), None, "3.75 of 4 GB");
    assert_eq!(could_ask(0.0, By::Run), None, "nothing was measured");
    assert_eq!(could_ask(1.0, By::User), None, "its applications differ");
}

#[test]
fn what_was_booked_above_the_nodes_is_told_in_nodes() {
    let hour = NodesHour {
        hour_ms: 0,
        node_s: 7_200.0,
        physical_vcore_s: 0.0,
        physical_byte_s: 7_200.0 * 64.0 * GB as f64,
        booked_byte_s: 7_200.0 * 80.0 * GB as f64,
        above_vcore_s: 3_600.0,
        above_byte_s: 7_200.0 * 16.0 * GB as f64,
    };
    let saved = Saved::of(hour, MeanPrices::of(&[entry(1, "ann", 0.5, 1.0)]));
    assert_eq!((saved.node_hours, saved.saved_node_hours), (2.0, 0.5));
    assert_eq!((saved.above_gb_hours, saved.above_core_hours), (32.0, 1.0));
    // A core-hour cost 3, and 4 GB-hours cost 8.
    assert_eq!(saved.saved_cost, 1.0 * 3.0 + 32.0 * 2.0);
    let nothing = Saved::of(NodesHour::default(), MeanPrices::of(&[]));
    assert_eq!((nothing.saved_node_hours, nothing.saved_cost), (0.0, 0.0));
}

#[test]
fn users_and_queues_that_could_ask_for_less_have_the_amount() {
    // Of 2 measured GB-hours; 1.25 GB of 4 GB would do for ann, and bob needs what he asks for.
    let part = 1.0 - 1.25 / 4.0;
    let entries = [
        entry(1, "ann", 0.5, 1.0),
        entry(2, "ann", 0.5, 1.0),
        entry(3, "bob", 0.5, 3.9),
        entry(4, "eve", 0.5, 1.0),
    ];
    let could = CouldAskLess::of(&entries);
    let users: Vec<_> =
        could.users.iter().map(|it| (it.of.as_str(), it.less.gb_hours, it.less.cost)).collect();
    let ann = 2.0 * 2.0 * part;
    assert_eq!(users, [("ann", ann, ann * 2.0), ("eve", ann / 2.0, ann)]);
    assert_eq!(could.users[0].less.names, ["run 2"], "one application, with its latest name");
    assert_eq!(could.queues.len(), 1);
    let queue = &could.queues[0].less;
    assert_eq!((queue.applications, queue.gb_hours), (2, ann * 1.5));
    assert_eq!(Rows::of(entries.clone(), By::Run).less, *queue, "whatever makes a row");
}

#[test]
fn less_of_a_request_saves_at_most_what_was_wasted() {
    let mut busy = entry(1, "ann", 0.5, 1.0);
    // Its master and smaller executors used all but 0.1 GB-hours of it.
    busy.sums.used_byte_s = busy.sums.measured_byte_s - 0.1 * 3_600.0 * GB as f64;
    let saved = Rows::of([busy], By::Run).rows[0].less.gb_hours;
    assert!((saved - 0.1).abs() < 1e-9, "{saved}");
}
