"""What `trainyard rehearse` prints, and where."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from trainyard.cli.main import app

PROJECT = Path(__file__).parents[2]


def test_a_page_on_standard_output_is_alone_there() -> None:
    ended = CliRunner().invoke(app, ["rehearse", "demo", "-C", str(PROJECT), "--html", "-"])
    assert ended.exit_code == 0, ended.output
    assert ended.stdout.lstrip().lower().startswith("<!doctype html>")
    assert ended.stdout.rstrip().endswith("</html>")
    # EKS calls capacity in a reservation on-demand; the label of its nodes knows better.
    assert "gpu-nodes-train-reserved: 0 to 1 nodes, reserved, p4d.24xlarge" in ended.stdout
    assert "Kubernetes 1.35, API private only" in ended.stdout


def test_two_things_cannot_both_have_standard_output() -> None:
    ended = CliRunner().invoke(app, ["rehearse", "demo", "-C", str(PROJECT), "--html", "-", "--json", "-"])
    assert ended.exit_code == 2
    assert "only one of them can have standard output" in ended.stderr
