"""Where whoever is told of a missing backup finds what to do: where the settings say that the pages are."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.pulumi_harness import plain
from tests.shared import ROOT
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import EVENT_TARGET, GCP_ALERT_POLICY
from trainyard.rehearsal.rehearse import rehearse

PAGES = "https://wiki.acme.example/ml"


@pytest.mark.parametrize(("stack", "told"), [("demo", EVENT_TARGET), ("demo-gcp", GCP_ALERT_POLICY)])
def test_the_page_is_named_where_it_is_published(tmp_path: Path, stack: str, told: str) -> None:
    text = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8"))
    text["config"].setdefault("trainyard:monitoring", {})["runbooks"] = PAGES
    file = tmp_path / f"Pulumi.{stack}.yaml"
    file.write_text(yaml.safe_dump(text), encoding="utf-8")
    made = Resources(rehearse(ROOT, file).resources).of(told)
    words = [str(plain(found.inputs)) for found in made if found.name.startswith("backups-")]
    assert words and all(f"{PAGES}/backup-failed.md" in each for each in words)
