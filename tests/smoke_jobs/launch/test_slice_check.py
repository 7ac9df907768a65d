"""The program that proves a TPU slice, with a stand-in for JAX: whole, and each way not to be."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from trainyard.smoke_jobs.launch import slice_check


def jax(*, lost: int = 0, backend: str = "tpu", processes: int = 4, local: int = 4, total: int = 16) -> Any:
    """JAX as machine 1 of a slice sees it; a sum lacks what `lost` chips would add."""

    def pmap(_: Callable[[Any], Any], *, axis_name: str) -> Callable[[list[float]], list[float]]:
        assert axis_name == "slice"
        return lambda own: [sum(range(1, total + 1 - lost))] * len(own)

    return SimpleNamespace(
        default_backend=lambda: backend,
        process_count=lambda: processes,
        process_index=lambda: 1,
        local_device_count=lambda: local,
        device_count=lambda: total,
        pmap=pmap,
        lax=SimpleNamespace(psum=None),
        numpy=SimpleNamespace(array=list),
        distributed=SimpleNamespace(initialize=lambda: None),
    )


def test_a_whole_slice_has_nothing_wrong() -> None:
    assert slice_check.problems(jax(), 4, 4) == []


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (jax(backend="cpu"), "JAX runs on cpu"),
        (jax(processes=3), "3 of 4 machines take part"),
        (jax(local=3), "this machine has 3 of 4 chips"),
        (jax(total=12), "the slice has 12 of 16 chips"),
        (jax(lost=1), "a sum over 16 chips gives 120, not 136"),
    ],
)
def test_what_a_slice_lacks_is_told(seen: Any, told: str) -> None:
    assert any(told in problem for problem in slice_check.problems(seen, 4, 4))


def run(monkeypatch: pytest.MonkeyPatch, module: Any, told: dict[str, str], *arguments: str) -> int:
    monkeypatch.setattr(slice_check.importlib, "import_module", lambda name: module)
    monkeypatch.setattr(slice_check.sys, "argv", ["-c", *arguments])
    for name in slice_check.TOLD:
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    return slice_check.main()


ALL = {"TPU_WORKER_ID": "1", "TPU_WORKER_HOSTNAMES": "a,b,c,d"}


def test_the_job_ends_with_the_verdict_and_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = tmp_path / "termination-log"
    reason.touch()
    monkeypatch.setattr(slice_check, "REASON", reason)
    assert run(monkeypatch, jax(), ALL, "4", "4") == 0
    assert "16 chips" in capsys.readouterr().out and reason.read_text() == ""
    assert run(monkeypatch, jax(total=12), ALL, "4", "4") == slice_check.FAILED
    assert reason.read_text() == "the slice is not whole: the slice has 12 of 16 chips"


def test_without_what_gke_says_it_ends_at_once(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    assert run(monkeypatch, jax(), {"TPU_WORKER_ID": "1"}, "4", "4") == slice_check.FAILED
    assert "GKE did not say TPU_WORKER_HOSTNAMES" in capsys.readouterr().out


def test_a_slice_of_one_machine_needs_to_be_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, jax(processes=1, local=8, total=8), {}, "1", "8") == 0
