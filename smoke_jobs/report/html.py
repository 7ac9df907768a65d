"""The result as one page for the browser: verdict, checks, curves, machine. Self-contained, prints on paper."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard import output
from trainyard.smoke_jobs.ddp.result import unproven_text
from trainyard.smoke_jobs.report.curves import Chart, Series, bytes_text, svg, swatch
from trainyard.smoke_jobs.report.terminal import cost_text, headline, nodes_text

TEMPLATE = Path(__file__).with_name("page.html.j2")

COUNTS = ("pass", "below", "fail", "skipped")


def page(document: Mapping[str, Any]) -> str:
    """The page of a result document (schema trainyard.smoke/1)."""
    charts = [(chart, drawn) for chart in (bandwidth(document), scaling(document)) if (drawn := svg(chart))]
    job = document["job"]
    return output.page(
        TEMPLATE,
        {"number": lambda value: f"{value:.4g}"},
        document=document,
        subject=" · ".join(part for part in (job["stack"], job["pool"]) if part) or job["name"],
        headline=headline(document),
        nodes=nodes_text(document),
        cost=cost_text(document),
        wrong=[check for check in document["checks"] if check["verdict"] in ("fail", "below")],
        counts={name: sum(check["verdict"] == name for check in document["checks"]) for name in COUNTS},
        charts=charts,
        swatch=swatch,
        limit=_limit,
        facts=_facts(document),
        unproven=unproven_text(document),
    )


def bandwidth(document: Mapping[str, Any]) -> Chart:
    """Bus bandwidth by message size, one line a collective, with the gate of the collectives check."""
    points = document["curves"]["bandwidth"]
    names = dict.fromkeys(point["collective"] for point in points)
    series = tuple(
        Series(
            name.replace("_", "-"),
            tuple(sorted((p["bytes"], p["busbw_gb_s"]) for p in points if p["collective"] == name)),
        )
        for name in names
    )
    check = next((check for check in document["checks"] if check["name"] == "collectives"), None)
    limit = check["threshold"] if check else None
    lines = ((limit["floor"], f"{limit['kind']}: {limit['floor']:.4g} GB/s in its window"),) if limit else ()
    return Chart("Bus bandwidth by message size", "message size", "GB/s", series, bytes_text, log_y=True, lines=lines)


def scaling(document: Mapping[str, Any]) -> Chart:
    """Throughput by number of ranks, against the line of perfect scaling."""
    points = sorted((p["ranks"], p["samples_per_second"]) for p in document["curves"]["scaling"])
    series = [Series("measured", tuple(points))] if points else []
    if len(points) > 1:
        ranks, first = points[0]
        series.append(Series("linear", tuple((n, first * n / ranks) for n, _ in points), dashed=True))
    return Chart(
        "Training throughput by number of ranks", "ranks", "samples/s", tuple(series), lambda n: f"{n:g}", log_y=False
    )


def _limit(check: Mapping[str, Any]) -> str:
    limit, figure = check["threshold"], check["figure"]
    if not limit:
        return ""
    sign = "≤" if figure and figure["better"] == "lower" else "≥"
    return f"{sign} {limit['floor']:.4g} {figure['unit'] if figure else ''}".strip()


def _facts(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    job, topology = document["job"], document["topology"]
    hosts = topology["hosts"]
    devices = f"{topology['model'] or topology['device']}, {topology['ranks_per_node']} rank(s) a node"
    facts = [
        ("Target", job["target"]),
        ("Instance", " ".join(part for part in (job["instance"], job["capacity"]) if part)),
        ("Devices", devices),
        ("Back end", topology["backend"]),
        ("Hosts", ", ".join(host["host"] for host in hosts)),
        ("Image", job["image"]),
        ("Code", job["code_version"]),
        *((name.replace("_", " "), str(value)) for name, value in document["versions"].items()),
    ]
    return [(name, value) for name, value in facts if value]
