"""Where whoever is told of something finds what to do: where the settings say that the pages are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.pulumi_harness import plain
from tests.shared import ROOT
from trainyard.conventions.monitoring import RUNBOOKS
from trainyard.rehearsal.rehearse import rehearse

PAGES = "https://wiki.acme.example/ml"
OF_AWS = {"backup-failed", "watchdog", "queue-waiting"}
OF_GOOGLE = {"backup-failed", "watchdog", "break-glass", "queue-waiting"}


@pytest.mark.parametrize(
    ("stack", "service", "pages"),
    [
        ("demo", None, OF_AWS),
        ("demo", "managed", OF_AWS | {"rules-failing"}),
        ("demo-gcp", None, OF_GOOGLE),
        ("small-aws", None, {"managed-jobs"}),
        ("small-gcp", None, {"break-glass"}),
    ],
)
def test_every_page_is_named_where_it_is_published(
    tmp_path: Path, stack: str, service: str | None, pages: set[str]
) -> None:
    """No alarm of a stack says where the pages are in this repository: whoever is woken has the published ones."""
    text = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8"))
    monitoring = text["config"].setdefault("trainyard:monitoring", {})
    monitoring.update({"runbooks": PAGES} | ({"service": service} if service else {}))
    file = tmp_path / f"Pulumi.{stack}.yaml"
    file.write_text(yaml.safe_dump(text), encoding="utf-8")
    found = rehearse(ROOT, file)
    assert not found.errors
    words = {one.urn: str(plain(one.inputs)) for one in found.resources}
    told = {page for each in words.values() for page in re.findall(rf"{re.escape(PAGES)}/([\w-]+)\.md", each)}
    assert told >= pages
    assert not [urn for urn, each in words.items() if re.search(rf"{RUNBOOKS}/[\w-]+\.md", each)]
