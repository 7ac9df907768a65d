"""Results of smoke jobs: read from their files, checked, and told to both readers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from trainyard.problems import Problem, SettingsError, spell_path
from trainyard.review.handover.model import Block, Drawn, Facts, Grid, Section, Text, section
from trainyard.review.handover.subject import Subject
from trainyard.review.reports.page_parts import sentence
from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.ddp.result import figure_text
from trainyard.smoke_jobs.report.curves import Chart, svg
from trainyard.smoke_jobs.report.html import bandwidth, scaling
from trainyard.smoke_jobs.report.terminal import cost_text, headline, limit_text, nodes_text
from trainyard.user_files import LARGEST_BYTES, read_json


class _Part(BaseModel):
    """A part of a result of which more may be said than is told here."""

    model_config = ConfigDict(extra="allow", strict=True)


class _Job(_Part):
    name: str
    stack: str
    pool: str
    target: str
    instance: str
    capacity: str


class _Topology(_Part):
    nodes: int = Field(ge=1)
    world_size: int = Field(ge=1)
    model: str
    device: str
    backend: str


class _Figure(_Part):
    name: str
    value: FiniteFloat
    unit: str
    better: Literal["higher", "lower"]


class _Threshold(_Part):
    floor: FiniteFloat
    kind: str


class _Check(_Part):
    name: str
    verdict: str
    reason: str
    figure: _Figure | None
    threshold: _Threshold | None
    seconds: FiniteFloat


class _Bandwidth(_Part):
    collective: str
    bytes: int = Field(ge=1)
    busbw_gb_s: FiniteFloat = Field(ge=0)


class _Scaling(_Part):
    ranks: int = Field(ge=1)
    samples_per_second: FiniteFloat = Field(ge=0)


class _Curves(_Part):
    bandwidth: list[_Bandwidth]
    scaling: list[_Scaling]


class _Timings(_Part):
    started: str
    seconds: FiniteFloat


class _Cost(_Part):
    device_hours: FiniteFloat
    usd: FiniteFloat | None


class _Result(_Part):
    """The parts of a result that are told, by their kinds; `result.problems` says the rest."""

    job: _Job
    topology: _Topology
    checks: list[_Check]
    curves: _Curves
    verdict: str
    exit_code: int
    timings: _Timings
    cost: _Cost


def read_result(path: Path, stack: str) -> Mapping[str, Any]:
    """The result of a smoke job of a stack.

    Raises:
        SettingsError: it is no such file, does not keep the schema, or is of another stack.
    """
    shown = f"--smoke {path}"
    document = read_json(path, shown, LARGEST_BYTES)
    if not isinstance(document, dict) or document.get("schema") != result.SCHEMA:
        wanted = f"must be the result of a smoke job ({result.SCHEMA})"
        raise SettingsError([Problem(shown, "something else", wanted, "`trainyard smoke --json FILE` writes one")])
    try:
        checked = _Result.model_validate(document)
    except ValidationError as error:
        raise SettingsError(
            Problem(f"{shown}: {spell_path(found['loc'])}", "what no smoke job writes", found["msg"].lower())
            for found in error.errors(include_url=False, include_input=False)
        ) from None
    wrong = result.problems(document)
    if wrong:
        raise SettingsError(Problem(shown, one, "must be as a smoke job wrote it") for one in wrong)
    if checked.job.stack != stack:
        of = checked.job.stack or "no stack"
        raise SettingsError([Problem(shown, f"the result of {of}", f"must be of {stack}, which the report is of")])
    return document


def subject_of(document: Mapping[str, Any]) -> str:
    """What was proven: `train, on demand`."""
    job = document["job"]
    return ", ".join(part for part in (job["pool"], job["capacity"]) if part) or str(job["name"])


def told_of(document: Mapping[str, Any]) -> str:
    """A line of it: `train, on-demand: It can train: every check that applies passed`."""
    return f"{subject_of(document)}: {headline(document)}"


def summary(subject: Subject) -> Section:
    """For the manager: whether the environment trains, and what it was measured at."""
    rows = tuple(
        (subject_of(document), headline(document), nodes_text(document), document["timings"]["started"][:10])
        for document in subject.smoke
    )
    return section(
        "proof",
        "The proof",
        (Grid(("what", "verdict", "how large", "when"), rows),),
        "The smoke job trains on the environment's own machines, and checks that they can and how fast they are.",
    )


def detail(subject: Subject) -> Section:
    """For the engineer: each check with its figure, threshold and source; curves; the machine."""
    blocks: list[Block] = []
    for index, document in enumerate(subject.smoke):
        bad = document["verdict"] != "pass"
        blocks.append(Text(sentence(told_of(document)), "bad" if bad else "good"))
        topology = document["topology"]
        blocks.append(
            Facts(
                tuple(
                    (label, str(value))
                    for label, value in (
                        ("Where", " ".join((document["job"]["target"], document["job"]["instance"])).strip()),
                        ("Devices", topology["model"] or topology["device"]),
                        ("Size", nodes_text(document)),
                        ("Took", cost_text(document)),
                        ("Started", f"{document['timings']['started'][:16].replace('T', ' ')} UTC"),
                    )
                    if value
                )
            )
        )
        rows = tuple(
            (
                check["name"],
                check["verdict"],
                figure_text(check["figure"]),
                limit_text(check),
                check["reason"] if not _source(check) else f"{check['reason']} (threshold: {_source(check)})",
            )
            for check in document["checks"]
        )
        blocks.append(Grid(("check", "verdict", "figure", "threshold", "what it found"), rows, small=True))
        if any(svg(chart) for chart in charts(document)):
            blocks.append(Drawn("curves", index))
    return section("smoke", "The smoke job in figures", blocks)


def charts(document: Mapping[str, Any]) -> tuple[Chart, ...]:
    """The curves of a result."""
    return bandwidth(document), scaling(document)


def _source(check: Mapping[str, Any]) -> str:
    limit = check["threshold"] or {}
    return ", ".join(str(limit[key]) for key in ("source", "date") if limit.get(key))
