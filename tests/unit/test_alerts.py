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

RULES = "elastane-alerts.yaml"
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
ACTIVE_LABELS = 'instance="rm1", job="hadoop", hadoop_cluster="test"'
STANDBY_LABELS = 'instance="rm2", job="hadoop", hadoop_cluster="test"'
# What is not 0 on a standby that is well.
STANDBY = {"inservice": ONE, "learneralive": ONE}
CASES = {
    "ElastaneCoreOutOfService": Case({"inservice": ZERO}, {"inservice": ONE}),
    "ElastaneCoreFailed": Case({"corefailures": "0x580 1x20"}, {"corefailures": ONE}),
    "ElastanePartOutOfService": Case({"partsoutofservice": ONE}, {"partsoutofservice": ZERO}),
    "ElastaneLearnerDead": Case({"learneralive": ZERO}, {"learneralive": ONE}),
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
    "ElastaneCpuUnderpredicted": Case(
        {"predictedusedcoreseconds": f"0+130{HOURS}", "predictedcoreseconds": f"0+100{HOURS}"},
        {"predictedusedcoreseconds": f"0+120{HOURS}", "predictedcoreseconds": f"0+100{HOURS}"},
    ),
    "ElastaneMemoryUnderpredicted": Case(
        {"predictedusedmbseconds": f"0+120000{HOURS}", "predictedmbseconds": f"0+100000{HOURS}"},
        # So little was predicted that the ratio says nothing.
        {"predictedusedmbseconds": f"0+200{HOURS}", "predictedmbseconds": f"0+100{HOURS}"},
    ),
    "ElastaneMemoryPreemptions": Case(
        {"memorypreemptions": "0x590 6x10", "executorstoldtoleave": "0x590 6x10"},
        {"memorypreemptions": "0x590 4x10", "executorstoldtoleave": "0x590 4x10"},
    ),
    "ElastaneCpuNearlyUsedUp": Case(
        {"usedcpucores": f"95{HOURS}", "physicalcpucores": f"100{HOURS}"},
        {"usedcpucores": f"85{HOURS}", "physicalcpucores": f"100{HOURS}"},
        bean="ElastanePartitionMetrics",
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
    "ElastaneRaisingForbidden": Case({"raisingforbidden": ONE}, {"raisingforbidden": ZERO}),
    "ElastaneSettingsRefused": Case({"settingsrefused": "0x580 1x20"}, {"settingsrefused": ONE}),
    # A standby has not looked since its start.
    "ElastaneObserveFile": Case(
        {"observefile": ONE, "active": ONE}, {"observefile": ONE, "active": ZERO}
    ),
    "ElastaneBookingsMended": Case({"bookingsmended": "0x580 1x20"}, {"bookingsmended": ONE}),
}


@pytest.fixture(scope="module")
def checkout() -> Checkout:
    return Checkout()


def test_every_alert_has_a_case_and_a_row_that_says_what_to_do(checkout: Checkout) -> None:
    alerts = re.findall(r"- alert: (\w+)", (checkout.grafana / RULES).read_text())
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
    file.write_text(json.dumps({"rule_files": [str(checkout.grafana / RULES)], "tests": tests}))
    promtool = prometheus_program("promtool", checkout)
    done = subprocess.run(
        [str(promtool), "test", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _test(name: str, case: Case, series: dict[str, str], firing: int) -> dict[str, object]:
    standby = {metric: STANDBY.get(metric, ZERO) for metric in series}
    return {
        "interval": "1m",
        "input_series": [
            {
                "series": f'hadoop_resourcemanager_{metric}{{name="{case.bean}", {where}}}',
                "values": values,
            }
            for where, metrics in ((ACTIVE_LABELS, series), (STANDBY_LABELS, standby))
            for metric, values in metrics.items()
        ],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertname="{name}", alertstate="firing"}}) or vector(0)',
                "eval_time": "9h55m",
                "exp_samples": [{"labels": "{}", "value": firing}],
            }
        ],
    }
