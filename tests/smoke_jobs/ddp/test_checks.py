"""What single checks decide without a job around them."""

from types import SimpleNamespace
from typing import Any

import pytest

from smoke_jobs.ddp import check_collectives, check_data, check_tracking
from smoke_jobs.ddp.options import Options


def test_several_nodes_without_a_shared_folder_skip_the_data_check() -> None:
    job: Any = SimpleNamespace(nodes=2, options=Options())
    outcome = check_data.run(job)
    assert outcome.verdict == "skipped"
    assert "2 nodes need a folder that all of them reach" in outcome.reason


@pytest.mark.parametrize(
    ("seconds", "times"),
    [(0.0, 20), (0.1, 20), (0.5, 8), (7.0, 3)],
)
def test_a_slow_network_repeats_less_often_instead_of_running_out_of_time(seconds: float, times: int) -> None:
    assert check_collectives.repeats(20, seconds) == times
    assert times * seconds <= max(check_collectives.POINT_S, check_collectives.LEAST * seconds)


def test_teams_do_not_share_an_experiment_that_one_of_them_owns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "vision")
    assert check_tracking.experiment(Options()) == "trainyard-smoke-vision"
    assert check_tracking.experiment(Options(tracking_experiment="mine")) == "mine"
    monkeypatch.delenv("MLFLOW_TRACKING_USERNAME")
    assert check_tracking.experiment(Options()) == "trainyard-smoke"
