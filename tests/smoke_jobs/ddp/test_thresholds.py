from pathlib import Path

import pytest

from trainyard.smoke_jobs.ddp import thresholds
from trainyard.smoke_jobs.ddp.result import Figure

FILE = Path(__file__).resolve().parents[3] / "smoke_jobs" / "ddp" / "thresholds.csv"
ALL = thresholds.load(FILE)
GIB = 2**30


def chosen(
    instance: str, nodes: int, metric: str = "all_reduce", size: int | None = None, nccl: str = "2.27.5"
) -> float:
    found = thresholds.select(ALL, instance=instance, nodes=nodes, metric=metric, size=size, nccl=nccl)
    return found.value if found else 0.0


def test_every_record_has_a_source_and_gates_lie_at_085_of_what_was_published() -> None:
    assert all(t.source and t.date and t.value > 0 for t in ALL)
    derived = "derived from the catalogue"
    bandwidth = [t for t in ALL if t.unit == "GB/s" and t.kind == "gate" and not t.source.startswith(derived)]
    assert len(bandwidth) >= 15
    assert all(0.75 <= t.floor / t.value <= 0.85 for t in bandwidth)
    assert all(t.statistic in ("median", "p05") for t in ALL)


def test_windows_select_the_figure_of_the_same_size() -> None:
    assert chosen("p5.48xlarge", 2, size=128 * 2**20) == 289
    assert chosen("p5.48xlarge", 2, size=2 * GIB) == 438
    assert chosen("p5.48xlarge", 2, size=16 * GIB) == 487
    assert chosen("p5.48xlarge", 2, size=2**20) == 0  # nothing published for small messages
    assert chosen("p5.48xlarge", 3, size=2 * GIB) == 400, "of which half is asked: nobody published three nodes"
    assert chosen("a3-megagpu-8g", 4, "all_gather", 8 * GIB) == 189


def test_of_what_passes_through_the_host_little_is_asked() -> None:
    for instance in ("g5.48xlarge", "g6.48xlarge", "g4dn.12xlarge"):
        for nodes, says in ((1, "PCIe slot"), (2, "no fabric")):
            found = thresholds.select(ALL, instance=instance, nodes=nodes, metric="all_reduce", size=GIB)
            assert found is not None and found.floor == pytest.approx(0.1 * found.value) and says in found.source
    assert chosen("g5.48xlarge", 1, "accelerator_utilisation") == 0.9


def test_without_gpus_figures_are_reported_and_nothing_is_asked() -> None:
    for metric in ("all_reduce", "scaling_efficiency", "kill_to_resumed", "accelerator_utilisation"):
        found = thresholds.select(ALL, instance="cpu", nodes=1, metric=metric, size=2**22)
        assert found is None or found.kind == "reference"


def test_gates_come_before_references_and_lower_is_better_where_it_says_so() -> None:
    found = thresholds.select(ALL, instance="cpu", nodes=1, metric="kill_to_resumed")
    assert found is not None and found.better == "lower" and found.met(5.0) and not found.met(60.0)
    found = thresholds.select(ALL, instance="p4d.24xlarge", nodes=4, metric="all_reduce", size=GIB)
    assert found is not None and found.kind == "gate" and found.source.startswith("derived"), (
        "a reference stands beside"
    )


def row(**changes: str) -> str:
    good = "x.large,2,all_reduce,1,2,median,10,GB/s,higher,0.15,gate,-,somewhere,2026-01".split(",")  # noqa: SIM905
    values = dict(zip(thresholds.FIELDS, ["" if value == "-" else value for value in good], strict=True))
    return ",".join(thresholds.FIELDS) + "\n" + ",".join((values | changes).values()) + "\n"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"statistic": "sweep_average"}, "line 2: statistic 'sweep_average'; median or p05, never a sweep average"),
        ({"kind": "warn"}, "kind is gate or reference"),
        ({"source": ""}, "needs its source"),
        ({"date": "yesterday"}, "a date"),
    ],
)
def test_a_wrong_record_is_refused(tmp_path: Path, changes: dict[str, str], text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(row(**changes))
    with pytest.raises(ValueError, match=text):
        thresholds.load(path)


@pytest.mark.parametrize(("nccl", "holds"), [("2.19.3", True), ("2.18.5", False), ("3.0", False), ("", False)])
def test_the_nccl_range(tmp_path: Path, nccl: str, holds: bool) -> None:
    path = tmp_path / "t.csv"
    path.write_text(row(nccl='">=2.19,<3"'))
    (record,) = thresholds.load(path)
    assert record.applies("x.large", 2, "all_reduce", 2, nccl) is holds


def test_a_drop_against_the_baseline_is_told_for_each_figure() -> None:
    figures = {
        "a": {"value": 100.0, "unit": "GB/s", "better": "higher"},
        "b": {"value": 2.0, "unit": "s", "better": "lower"},
    }
    baseline = {"recorded": "2026-11-20T00:00:00", "figures": figures}
    now = [Figure("a", 84.0, "GB/s"), Figure("b", 2.2, "s", "lower"), Figure("new", 1.0, "")]
    (text,) = thresholds.drops(baseline, now, 0.15)
    assert text == "a is 84 GB/s, the baseline of 2026-11-20 100 (16% worse, 15% allowed)"
    assert thresholds.drops(baseline, now, 0.2) == []
    assert len(thresholds.drops(baseline, [Figure("b", 2.4, "s", "lower")], 0.15)) == 1


def test_a_file_that_is_no_baseline(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(ValueError, match="does not hold a baseline; write one with --record-baseline"):
        thresholds.read_baseline(tmp_path / "b.json")
