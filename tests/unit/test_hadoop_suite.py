"""Hadoop's own tests: what a JVM left is read, and compared with the stock scheduler's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hadoop_suite import report
from hadoop_suite.classes import CLASSES, MOCKED_APPLICATIONS, UnknownClass, chosen, short
from hadoop_suite.comparison import ClassRun, compare
from hadoop_suite.jvm import OURS, Setting, as_xml, sites
from hadoop_suite.outcomes import Attempt, Outcome, Status, name_of, read

CLASS = "scheduler.capacity.TestReservations"
PARENT = "[engine:junit-jupiter]/[class:org.example.TestLeafQueue]"
OURS_ONLY = {"substituted_schedulers": 2, "stock_schedulers": 0}


def unique(name: str) -> str:
    return f"{PARENT}/[method:{name}()]"


def write(file: Path, *lines: dict[str, Any]) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def finished(name: str, status: str, **more: Any) -> dict[str, Any]:
    return {"kind": "finished", "id": unique(name), "status": status, "seconds": 1.5, **more}


def attempt(counts: dict[str, int] | None = None, **statuses: Status) -> Attempt:
    outcomes = {unique(name): Outcome(unique(name), status) for name, status in statuses.items()}
    return Attempt(outcomes, counts if counts is not None else dict(OURS_ONLY), ended=True)


def test_each_outcome_is_read(tmp_path: Path) -> None:
    file = write(
        tmp_path / "outcomes.jsonl",
        {"kind": "planned", "tests": [unique(name) for name in ("a", "b", "c")]},
        {"kind": "started", "id": unique("a")},
        finished("a", "successful", counts={"stock_schedulers": 1}),
        finished("b", "failed", error="expected 1", trace="at b", counts={"stock_schedulers": 2}),
        finished("c", "aborted"),
        {"kind": "ended", "counts": {"stock_schedulers": 3}},
    )
    found = read(file)
    assert [outcome.status for outcome in found.outcomes.values()] == [
        Status.PASSED,
        Status.FAILED,
        Status.SKIPPED,
    ]
    assert found.outcomes[unique("b")].error == "expected 1"
    assert found.counts == {"stock_schedulers": 3}
    assert found.ended
    assert found.to_repeat() == [unique("b")]


def test_a_killed_jvm_leaves_a_hung_test_and_tests_that_were_not_run(tmp_path: Path) -> None:
    file = write(
        tmp_path / "outcomes.jsonl",
        {"kind": "planned", "tests": [unique(name) for name in ("a", "b", "c")]},
        finished("a", "successful", counts={"stock_schedulers": 1}),
        {"kind": "started", "id": unique("b")},
    )
    with file.open("a") as lines:
        lines.write('{"kind":"finis')
    found = read(file)
    assert not found.ended
    assert found.outcomes[unique("b")].status == Status.HUNG
    assert found.outcomes[unique("c")].status == Status.NOT_RUN
    assert found.to_repeat() == [unique("b"), unique("c")]
    assert found.counts == {"stock_schedulers": 1}


def test_a_skipped_class_skips_its_tests(tmp_path: Path) -> None:
    file = write(
        tmp_path / "outcomes.jsonl",
        {"kind": "planned", "tests": [unique("a")]},
        {"kind": "skipped", "id": PARENT, "reason": "switched off"},
        {"kind": "ended", "counts": {}},
    )
    assert read(file).outcomes[unique("a")].status == Status.SKIPPED


def test_a_jvm_that_did_not_start_leaves_nothing(tmp_path: Path) -> None:
    found = read(tmp_path / "outcomes.jsonl")
    assert found.outcomes == {}
    assert not found.ended


@pytest.mark.parametrize(
    ("unique_id", "name"),
    [
        (unique("testLimits"), "testLimits"),
        (f"{PARENT}/[method:testLimits(int, boolean)]", "testLimits"),
        (
            f"{PARENT}/[test-template:testRestart(Type)]/[test-template-invocation:#2]",
            "testRestart[2]",
        ),
        (
            "[engine:e]/[class-template:C]/[class-template-invocation:#1]/[method:testX()]",
            "[1]testX",
        ),
        (PARENT, "(class)"),
    ],
)
def test_a_name_is_readable(unique_id: str, name: str) -> None:
    assert name_of(unique_id) == name


def test_only_what_passes_on_stock_and_fails_with_ours_is_a_regression() -> None:
    stock = ClassRun(
        CLASS, "stock", attempt({}, a=Status.PASSED, b=Status.FAILED, c=Status.SKIPPED)
    )
    ours = ClassRun(CLASS, "enforce", attempt(a=Status.FAILED, b=Status.FAILED, c=Status.SKIPPED))
    verdict = compare([stock, ours])
    assert verdict.regressions == [(ours, unique("a"))]
    assert not verdict.good


def test_a_test_that_passes_when_run_again_is_shown_and_no_failure() -> None:
    stock = ClassRun(CLASS, "stock", attempt({}, a=Status.PASSED))
    ours = ClassRun(CLASS, "off", attempt(a=Status.FAILED), attempt(a=Status.PASSED))
    verdict = compare([stock, ours])
    assert verdict.good
    assert ours.passed == 1
    lines = report.lists([stock, ours], verdict)
    assert lines[1:] == [
        "failed once and passed when run again (1):",
        "  off TestReservations.a: failed, then passed",
    ]


def test_a_test_that_passes_on_stock_when_run_again_counts_as_passed_there() -> None:
    stock = ClassRun(CLASS, "stock", attempt({}, a=Status.FAILED), attempt({}, a=Status.PASSED))
    ours = ClassRun(CLASS, "enforce", attempt(a=Status.FAILED), attempt(a=Status.FAILED))
    verdict = compare([stock, ours])
    assert verdict.regressions == [(ours, unique("a"))]
    assert report.lists([stock, ours], verdict)[2] == (
        "  enforce TestReservations.a: failed, then failed; stock: failed, then passed"
    )


def test_a_test_that_ours_did_not_come_to_is_a_regression() -> None:
    stock = ClassRun(CLASS, "stock", attempt({}, a=Status.PASSED, b=Status.PASSED))
    ours = ClassRun(CLASS, "enforce", attempt(a=Status.PASSED))
    assert compare([stock, ours]).regressions == [(ours, unique("b"))]


def test_a_class_in_which_hadoops_scheduler_ran_is_not_substituted() -> None:
    stock = ClassRun(CLASS, "stock", attempt({"stock_schedulers": 2}, a=Status.PASSED))
    neither = ClassRun(CLASS, "off", attempt({}, a=Status.PASSED))
    both = ClassRun(
        CLASS, "observe", attempt({**OURS_ONLY, "stock_schedulers": 1}, a=Status.PASSED)
    )
    ours = ClassRun(CLASS, "enforce", attempt(a=Status.PASSED))
    verdict = compare([stock, neither, both, ours])
    assert verdict.not_substituted == [neither, both]
    assert not verdict.good


def test_a_failed_core_is_no_success() -> None:
    stock = ClassRun(CLASS, "stock", attempt({}, a=Status.PASSED))
    counts = {**OURS_ONLY, "cores_out_of_service": 1}
    ours = ClassRun(CLASS, "enforce", attempt(counts, a=Status.PASSED))
    verdict = compare([stock, ours])
    assert verdict.out_of_service == [ours]
    assert not verdict.good


def test_a_core_may_fail_on_applications_that_are_mocks() -> None:
    counts = {**OURS_ONLY, "cores_out_of_service": 1}
    for name in MOCKED_APPLICATIONS:
        assert name in CLASSES
        assert compare([ClassRun(name, "enforce", attempt(counts, a=Status.PASSED))]).good


def test_failures_without_a_run_on_stock_are_no_success() -> None:
    ours = ClassRun(CLASS, "enforce", attempt(a=Status.FAILED))
    verdict = compare([ours])
    assert verdict.without_stock == [ours]
    assert not verdict.good


def test_a_class_without_tests_is_no_success() -> None:
    empty = ClassRun(CLASS, "off", Attempt())
    assert compare([empty]).not_completed == [empty]


def test_a_class_in_which_nothing_passes_on_stock_is_no_success() -> None:
    broken = ClassRun(CLASS, "stock", attempt({}, a=Status.FAILED))
    verdict = compare([broken, ClassRun(CLASS, "off", attempt(a=Status.FAILED))])
    assert verdict.not_completed == [broken]
    assert not verdict.good


def test_a_result_is_stored_and_read_back() -> None:
    run = ClassRun(CLASS, "off", attempt(a=Status.FAILED), attempt(a=Status.PASSED), 12.5)
    assert ClassRun.from_json(json.loads(json.dumps(run.to_json()))) == run


def test_the_table_has_a_column_for_each_mode() -> None:
    runs = [
        ClassRun(CLASS, "stock", attempt({}, a=Status.PASSED, b=Status.FAILED)),
        ClassRun(CLASS, "enforce", attempt(a=Status.PASSED, b=Status.PASSED)),
    ]
    assert [line.split() for line in report.table(runs)] == [
        ["class", "stock", "enforce"],
        ["TestReservations", "1/2", "2/2"],
        ["total", "1/2", "2/2"],
    ]


def test_a_skipped_test_is_not_counted() -> None:
    run = ClassRun(CLASS, "stock", attempt({}, a=Status.PASSED, b=Status.SKIPPED))
    assert report.cell(run) == "1/1"


def test_classes_are_chosen_by_their_short_names() -> None:
    assert chosen("") == list(CLASSES)
    assert chosen("TestReservations, TestRMRestart,TestReservations") == [CLASS, "TestRMRestart"]
    with pytest.raises(UnknownClass, match="TestNothing"):
        chosen("TestNothing")
    assert len({short(name) for name in CLASSES}) == len(CLASSES)


def test_only_elastanes_modes_name_our_scheduler(tmp_path: Path) -> None:
    assert OURS not in sites(tmp_path, "stock")["yarn-site.xml"].values()
    assert OURS in sites(tmp_path, "off")["yarn-site.xml"].values()


def test_a_configuration_file_is_escaped() -> None:
    assert "<name>a&amp;b</name><value>&lt;</value>" in as_xml({"a&b": "<"})


def test_a_setting_needs_a_key_and_a_value() -> None:
    assert Setting.parse("a.b=c=d") == Setting("a.b", "c=d")
    for text in ("a.b", "=c"):
        with pytest.raises(ValueError, match="KEY=VALUE"):
            Setting.parse(text)
