"""Every expression of every dashboard, evaluated by Prometheus' own engine over a cluster of two days: each shows
something, and what two replicas of Kueue's manager export is shown once."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.monitoring.promtool import NAMESPACES, kueue, needs_promtool
from trainyard.monitoring.dashboards.boards import DASHBOARDS, dashboards
from trainyard.monitoring.names import XIDS
from trainyard.monitoring.recordings import Money
from trainyard.monitoring.rules import rules
from trainyard.monitoring.thresholds import Thresholds

SAMPLES = 48 * 12
EXPRESSIONS = list(
    dict.fromkeys(
        (board.uid, re.sub(r"\$team\b", "vision", query.expr))
        for board in DASHBOARDS
        for row in board.rows
        for panel in row.panels
        for query in panel.queries
    )
)
SLICES = "v6e-on-demand"
"""A flavor of TPU slices."""
EXPRESSIONS_OF_CHIPS = list(
    dict.fromkeys(
        (board.uid, re.sub(r"\$team\b", "vision", query.expr))
        for board in dashboards(chips=True)
        for row in board.rows
        for panel in row.panels
        for query in panel.queries
        if re.search("chip|tpu|held_usd", query.expr)
    )
)
MONEY = Money({"train-spot": 2.0}, {"vision": ("vision", 1000)})
RULES = rules(Thresholds(), namespaces=NAMESPACES, members={"team-vision": ("vision", 4)}, runbooks="r", money=MONEY)
OF_CHIPS = rules(
    Thresholds(),
    namespaces=NAMESPACES,
    members={"team-vision": ("vision", 4)},
    runbooks="r",
    money=replace(MONEY, chips=True, chip_hour_usd={SLICES: 3.0}),
)
QUEUE, LOCAL = 'cluster_queue="vision"', 'namespace="team-vision", name="default"'
WORKLOAD = 'namespace="team-vision", name="a", pod_set="node"'
POOL = 'label_ml_platform_pool="train", label_ml_platform_capacity="spot"'
GPU_FIGURES = {  # of each of eight GPUs; each error has happened lately
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": "0.5",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": "0.3",
    "DCGM_FI_DEV_GPU_TEMP": "60",
    "DCGM_FI_DEV_POWER_USAGE": "400",
    "DCGM_FI_DEV_FB_USED": "60000",
    "DCGM_FI_DEV_FB_FREE": "20000",
    "DCGM_FI_DEV_CLOCKS_EVENT_REASONS": "64",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": "1",
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": "0+1",
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": "0+1",
}


def _cluster() -> dict[str, str]:
    always = f"x{SAMPLES}"
    found: dict[str, str] = {}
    for number in range(8):
        of_it = f'gpu="{number}", UUID="GPU-{number}", Hostname="node-1", namespace="team-vision", pod="run-0"'
        found |= {f"{name}{{{of_it}}}": f"{value}{always}" for name, value in GPU_FIGURES.items()}
    found[f'{XIDS}{{gpu="0", UUID="GPU-0", Hostname="node-1", xid="79"}}'] = f"1{always}"
    found |= {
        'kube_node_status_allocatable{node="node-1", resource="nvidia_com_gpu"}': f"8{always}",
        f'kube_node_labels{{node="node-1", {POOL}}}': f"1{always}",
        'kube_node_status_allocatable{node="tpu-1", resource="google_com_tpu"}': f"32{always}",
        'kube_node_labels{node="tpu-1", label_ml_platform_pool="v6e", label_ml_platform_capacity="on-demand"}': (
            f"1{always}"
        ),
        'kube_node_status_condition{node="node-1", condition="Ready", status="true"}': f"1{always}",
        'kube_pod_status_unschedulable{namespace="team-vision", pod="run-1"}': f"1{always}",
        'up{job="kueue"}': f"1{always}",
        'up{job="apiserver"}': f"1{always}",
        'kube_cronjob_created{namespace="team-vision", cronjob="checkpoint-drill"}': f"0{always}",
        'kube_cronjob_status_last_successful_time{namespace="team-vision", cronjob="checkpoint-drill"}': f"9{always}",
        f'kueue_workload_gpus{{{WORKLOAD}, flavor="train-spot", priority="standard"}}': f"4{always}",
        'kueue_workload_condition_time{namespace="team-vision", name="z", type="Finished", reason="Succeeded"}': (
            f"600{always}"
        ),
    }
    gauges = {
        ("kueue_cluster_queue_status", f'{QUEUE}, status="active"'): "1",
        ("kueue_cluster_queue_resource_usage", f'{QUEUE}, flavor="train-spot", resource="nvidia.com/gpu"'): "4",
        ("kueue_cluster_queue_nominal_quota", f'{QUEUE}, flavor="train-spot", resource="nvidia.com/gpu"'): "8",
        ("kueue_cluster_queue_resource_usage", f'{QUEUE}, flavor="{SLICES}", resource="google.com/tpu"'): "16",
        ("kueue_cluster_queue_nominal_quota", f'{QUEUE}, flavor="{SLICES}", resource="google.com/tpu"'): "32",
        ("kueue_local_queue_resource_usage", f'{LOCAL}, flavor="{SLICES}", resource="google.com/tpu"'): "16",
        ("kueue_cluster_queue_weighted_share", QUEUE): "20",
        ("kueue_pending_workloads", f'{QUEUE}, status="active"'): "3",
        ("kueue_local_queue_pending_workloads", f'{LOCAL}, status="active"'): "3",
        ("kueue_local_queue_admitted_active_workloads", LOCAL): "2",
        ("kueue_local_queue_resource_usage", f'{LOCAL}, flavor="train-spot", resource="nvidia.com/gpu"'): "4",
    }
    for (name, labels), value in gauges.items():
        found |= kueue(name, labels, f"{value}{always}")
    for priority in ("production", "standard"):
        for name, each in (("sum", 60), ("count", 1)):
            of_it = f'{QUEUE}, priority_class="{priority}"'
            found |= kueue(f"kueue_admission_wait_time_seconds_{name}", of_it, f"0+{each}{always}", f"0{always}")
    ended = f'{LOCAL}, priority_class="standard"'
    found |= kueue("kueue_local_queue_finished_workloads_total", ended, f"0+1{always}", f"0{always}")
    evicted = f'{QUEUE}, reason="Preempted", priority_class="standard"'
    return found | kueue("kueue_evicted_workloads_total", evicted, f"0+1{always}", f"0{always}")


KNOWN = {
    ("trainyard-team", "pending"): 3,
    ("trainyard-team", "admitted"): 2,
    ("trainyard-team", "usage"): 4,
    ("trainyard-pools", "trainyard:pending_workloads"): 3,
    ("trainyard-pools", "nominal"): 8,
    ("trainyard-cost", "1 - sum"): 0.5,
    ("trainyard-success", "trainyard:gpu_utilisation:ratio7d"): 0.5,
    ("trainyard-success", "trainyard:spot_share:ratio30d"): 1,
    ("trainyard-success", "trainyard:uptime:ratio30d"): 1,
    ("trainyard-success", "trainyard:checkpoint_reliability:ratio30d"): 1,
}
"""What panels show whose expression has this in it: two replicas are counted once."""


@pytest.fixture(scope="module")
def verdict(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _played(tmp_path_factory.mktemp("dashboards"), EXPRESSIONS)


def _played(
    folder: Path,
    asked: list[tuple[str, str]],
    made: dict[str, Any] = RULES,
    known: dict[tuple[str, str], float] = KNOWN,
) -> str:
    groups = [
        {**group, "rules": [rule for rule in group["rules"] if "record" in rule]}
        for group in made["groups"]
        if any("record" in rule for rule in group["rules"])
    ]
    (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": groups}))
    tests: list[dict[str, Any]] = [
        {
            "expr": f"count(({expr}) > -Inf < +Inf)  > bool 0",
            "eval_time": "47h",
            "exp_samples": [{"labels": "{}", "value": 1}],
        }
        for _, expr in asked
    ] + [
        {"expr": f"round(max({expr}), 0.01)", "eval_time": "47h", "exp_samples": [{"labels": "{}", "value": value}]}
        for (uid, part), value in known.items()
        for board, expr in asked
        if board == uid and part in expr
    ]
    played = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "5m",
        "group_eval_order": [group["name"] for group in groups],
        "tests": [
            {
                "interval": "5m",
                "input_series": [{"series": name, "values": values} for name, values in _cluster().items()],
                "promql_expr_test": tests,
            }
        ],
    }
    file = folder / "tests.yaml"
    file.write_text(yaml.safe_dump(played))
    done = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@needs_promtool
def test_every_expression_shows_something_and_what_it_should(verdict: str) -> None:
    assert verdict == ""


KNOWN_OF_CHIPS = {
    ("trainyard-team", "google.com/tpu"): 16,
    ("trainyard-pools", "trainyard:chips_provisioned"): 32,
    ("trainyard-pools", "trainyard:chips_held"): 16,
    ("trainyard-pools", "nominal"): 32,
    ("trainyard-cost", "trainyard_chip_hour_usd"): 3,
    ("trainyard-cost", "sum(trainyard:held_usd_per_hour) or"): 4 * 2 + 16 * 3,
    ("trainyard-cost", "1 - sum"): 0.5,  # of 8 GPUs at 2 USD and 32 chips at 3 USD
}
"""Likewise, where there are TPU slices."""


@needs_promtool
def test_panels_of_chips_show_what_they_should(tmp_path: Path) -> None:
    assert _played(tmp_path, EXPRESSIONS_OF_CHIPS, OF_CHIPS, KNOWN_OF_CHIPS) == ""


@pytest.mark.parametrize(
    ("known", "shown"), [(KNOWN, EXPRESSIONS), (KNOWN_OF_CHIPS, EXPRESSIONS_OF_CHIPS)], ids=["GPUs", "chips"]
)
def test_what_is_known_is_shown_somewhere(known: dict[tuple[str, str], float], shown: list[tuple[str, str]]) -> None:
    for uid, part in known:
        assert any(board == uid and part in expr for board, expr in shown), (uid, part)


@needs_promtool
def test_an_expression_that_shows_nothing_is_told(tmp_path: Path) -> None:
    assert "kueue_no_such_series" in _played(tmp_path, [("trainyard-team", "sum(kueue_no_such_series)")])
