"""Each alert fires when it should, and is silent otherwise, by Prometheus's own tester."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cluster.paths import Checkout
from cluster.prometheus import prometheus_program

# One sample a minute.
HOURS = "x600"


@dataclass(frozen=True)
class Case:
    """What a metric does for ten hours when the alert is to fire, and when not. `START+STEPxTIMES`
    grows by a step each minute."""

    firing: dict[str, str]
    quiet: dict[str, str] = field(default_factory=dict)
    bean: str = "ElastaneScheduler"


ZERO, ONE = f"0{HOURS}", f"1{HOURS}"
CASES = {
    "ElastaneCoreOutOfService": Case({"inservice": ZERO}, {"inservice": ONE}),
    "ElastaneCoreFailed": Case({"corefailures": "0x580 1x20"}, {"corefailures": ONE}),
    "ElastanePartOutOfService": Case({"partsoutofservice": ONE}, {"partsoutofservice": ZERO}),
    "ElastaneLearnerDead": Case(
        {"learneralive": ZERO, "inservice": ONE}, {"learneralive": ZERO, "inservice": ZERO}
    ),
    "ElastaneLearnerBehind": Case(
        {"learnerbacklog": f"0+1{HOURS}"}, {"learnerbacklog": "1000x590 3x10"}
    ),
    "ElastaneNotSaved": Case({"journaldropped": f"0+1{HOURS}"}, {"journaldropped": ONE}),
    "ElastaneAgentsSilent": Case(
        {"agentssilent": f"6{HOURS}", "agentsfresh": f"94{HOURS}"},
        {"agentssilent": f"4{HOURS}", "agentsfresh": f"96{HOURS}"},
    ),
    "ElastaneAgentsFlapping": Case(
        {"agentssilent": " ".join(["0", "1"] * 300)}, {"agentssilent": "0x590 1x10"}
    ),
    "ElastaneCpuCoverageLow": Case(
        {"cpucoveredseconds": f"0+800{HOURS}", "predictedseconds": f"0+1000{HOURS}"},
        {"cpucoveredseconds": f"0+900{HOURS}", "predictedseconds": f"0+1000{HOURS}"},
    ),
    "ElastaneMemoryCoverageLow": Case(
        {"memorycoveredseconds": f"0+800{HOURS}", "predictedseconds": f"0+1000{HOURS}"},
        # So little was predicted that the ratio says nothing.
        {"memorycoveredseconds": ZERO, "predictedseconds": f"0+60{HOURS}"},
    ),
    "ElastaneMemoryPreemptions": Case(
        {"memorypreemptions": f"0+1{HOURS}"}, {"memorypreemptions": "0x590 9x10"}
    ),
    "ElastaneMemoryNearlyUsedUp": Case(
        {"usedmb": f"95{HOURS}", "physicalmb": f"100{HOURS}"},
        {"usedmb": f"85{HOURS}", "physicalmb": f"100{HOURS}"},
        bean="ElastanePartitionMetrics",
    ),
    "ElastaneRoundsSlow": Case(
        {"round99thpercentilemicros": f"30000{HOURS}"},
        {"round99thpercentilemicros": f"300{HOURS}"},
    ),
    "ElastaneRaisingForbidden": Case(
        {"raisingforbidden": ONE, "enforcing": ONE}, {"raisingforbidden": ONE, "enforcing": ZERO}
    ),
    "ElastaneSettingsRefused": Case({"settingsrefused": "0x580 1x20"}, {"settingsrefused": ONE}),
    "ElastaneObserveFile": Case({"observefile": ONE}, {"observefile": ZERO}),
    "ElastaneBookingsMended": Case({"bookingsmended": "0x580 1x20"}, {"bookingsmended": ONE}),
}


@pytest.fixture(scope="module")
def checkout() -> Checkout:
    return Checkout()


def test_every_alert_has_a_case_and_a_row_that_says_what_to_do(checkout: Checkout) -> None:
    rules = _rules(checkout).read_text()
    alerts = re.findall(r"- alert: (\w+)", rules)
    assert sorted(alerts) == sorted(CASES)
    page = (checkout.root / "docs" / "alerts.md").read_text()
    assert re.findall(r"^\| `(Elastane\w+)`", page, re.MULTILINE) == alerts


@pytest.mark.parametrize("name", CASES)
def test_an_alert_fires_when_it_should_and_not_otherwise(
    name: str, checkout: Checkout, tmp_path: Path
) -> None:
    case = CASES[name]
    file = tmp_path / "test.json"
    tests = [_test(name, case, case.firing, 1), _test(name, case, case.quiet, 0)]
    # YAML's syntax includes that of JSON.
    file.write_text(json.dumps({"rule_files": [str(_rules(checkout))], "tests": tests}))
    promtool = prometheus_program("promtool", checkout)
    done = subprocess.run(
        [str(promtool), "test", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _test(name: str, case: Case, series: dict[str, str], firing: int) -> dict[str, object]:
    labels = f'name="{case.bean}", instance="rm"'
    return {
        "interval": "1m",
        "input_series": [
            {"series": f"hadoop_resourcemanager_{metric}{{{labels}}}", "values": values}
            for metric, values in series.items()
        ],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertname="{name}", alertstate="firing"}}) or vector(0)',
                "eval_time": "9h55m",
                "exp_samples": [{"labels": "{}", "value": firing}],
            }
        ],
    }


def _rules(checkout: Checkout) -> Path:
    return checkout.root / "grafana" / "elastane-alerts.yaml"
