"""The verdict says where Elastane was not better."""

from __future__ import annotations

from dataclasses import replace

from demo.advised import Advised, Times
from demo.result import MostContainers, OfCpuAndMemory, RoundFigures
from demo.verdict import verdict


def seen(
    name: str,
    makespan_s: float,
    cpu_core_s: float | None = 100.0,
    placed_by_core: int = 30,
    failures: int = 0,
    mean_completion_s: float = 100.0,
    others_mean_cores: float = 0.2,
    executor_starts_s: list[list[float]] | None = None,
    node_hours: float = 0.3,
) -> RoundFigures:
    return RoundFigures(
        name=name,
        scheduler=name,
        makespan_s=makespan_s,
        mean_completion_s=mean_completion_s,
        cpu_core_s=cpu_core_s,
        applications=10,
        failures=failures,
        containers=30,
        placed_by_core=placed_by_core,
        max_booked_over_physical=OfCpuAndMemory(1.0, 1.0),
        mean_booked_over_physical=OfCpuAndMemory(0.8, 0.8),
        used_over_booked=OfCpuAndMemory(0.5, 0.2),
        most_containers=MostContainers(3, "node-0", 3),
        mean_cpu_of_share=0.6,
        others_mean_cores=others_mean_cores,
        node_hours=node_hours,
        executor_starts_s=executor_starts_s or [],
    )


def test_throughput_and_completion_come_first() -> None:
    rounds = [
        seen("capacity", 400, mean_completion_s=200),
        seen("profiles", 320, mean_completion_s=150),
    ]
    text = verdict(rounds, quick=False)
    assert text.startswith("Elastane with profiles did in 320 s what CapacityScheduler did in 400")
    assert "25 % more work in the same time" in text
    assert "after 150 s on average instead of 200 s: 25 % sooner" in text


def test_less_throughput_and_later_ends_come_first_as_well() -> None:
    rounds = [
        seen("capacity", 320, mean_completion_s=100),
        seen("profiles", 400, mean_completion_s=110),
    ]
    text = verdict(rounds, quick=False)
    assert "20 % less work in the same time" in text
    assert "10 % later" in text


def test_what_was_advised_is_held_against_what_came() -> None:
    capacity = replace(
        seen(
            "capacity",
            400,
            mean_completion_s=200,
            executor_starts_s=[[10, 60], [30]],
            node_hours=0.36,
        ),
        advised=Advised(
            as_capacity=Times(makespan_s=420, mean_completion_s=190),
            as_enforce=Times(makespan_s=294, mean_completion_s=152),
            containers_earlier=3,
            mean_earlier_s=12,
            node_hours_as_capacity=0.4,
            node_hours_as_enforce=0.35,
            took_s=0.1,
            whole={},
        ),
    )
    profiles = seen(
        "profiles",
        320,
        mean_completion_s=150,
        executor_starts_s=[[10.5, 20], [20]],
        node_hours=0.27,
    )
    text = verdict([capacity, profiles], quick=False)
    assert "makespan -30 % (came: -20 %; error -10 points)" in text
    assert "mean completion time -20 % (came: -25 %; error +5 points)" in text
    assert "executors that start earlier 3 (came: 2; error +1)" in text
    assert "by how much on average, s 12 (came: 25; error -13)" in text
    assert "node-hours saved 0.050 (came: 0.090; error -0.040)" in text
    assert "off by: makespan +5 %, mean completion time -5 %" in text


def test_a_longer_makespan_is_said_plainly() -> None:
    text = verdict([seen("capacity", 300), seen("profiles", 330)], quick=False)
    assert "NOT better than `capacity`: makespan +10 %" in text


def test_less_than_the_spread_is_no_difference() -> None:
    text = verdict([seen("capacity", 300), seen("profiles", 294)], quick=False)
    assert "No difference to `capacity`" in text
    assert "was better" not in text
    assert "no more work in the same time" in text
    assert "100 s: no sooner" in text


def test_throughput_and_makespan_are_judged_by_the_same_difference() -> None:
    # 6.01 % more work, and a makespan 5.7 % shorter: within the spread of 6 %.
    text = verdict([seen("capacity", 300), seen("profiles", 283)], quick=False)
    assert "No difference to `capacity`" in text
    assert "no more work in the same time" in text


def test_rounds_with_failures_claim_no_throughput() -> None:
    rounds = [seen("capacity", 300), seen("profiles", 100, failures=1)]
    text = verdict(rounds, quick=False)
    assert text.startswith("Applications failed")
    assert "in the same time" not in text


def test_each_baseline_is_compared() -> None:
    rounds = [seen("capacity", 300), seen("oversubscribed", 200), seen("profiles", 250)]
    text = verdict(rounds, quick=False)
    assert "was better than `capacity`: makespan -17 %" in text
    assert "NOT better than `oversubscribed`: makespan +25 %" in text


def test_a_machine_that_did_other_work_spoils_the_comparison() -> None:
    rounds = [seen("capacity", 300, others_mean_cores=1.2), seen("profiles", 250)]
    assert verdict(rounds, quick=False).startswith(
        "The machine did other work meanwhile (1.2 cores in `capacity`)"
    )


def test_the_small_demo_says_that_it_is_too_short() -> None:
    text = verdict([seen("capacity", 300), seen("profiles", 250)], quick=True)
    assert text.startswith("This was the small demo")
    assert "in the same time" not in text
    assert "better than" not in text


def test_a_core_that_placed_nothing_is_named() -> None:
    rounds = [seen("capacity", 300), seen("profiles", 250, placed_by_core=0)]
    assert "placed no container" in verdict(rounds, quick=False)


def test_what_was_not_measured_is_not_compared() -> None:
    rounds = [seen("capacity", 300, cpu_core_s=None), seen("profiles", 250, cpu_core_s=None)]
    assert "CPU time" not in verdict(rounds, quick=False)
