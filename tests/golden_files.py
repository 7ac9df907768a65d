"""Golden plans and rehearsals of every example stack: what a change changes is seen in a review.

`make golden` writes them anew; `tests/test_golden.py` holds them equal. A rehearsal's file has one resource a
paragraph, sorted by URN, without what follows from the rest (dependencies of each property) or from the clock.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from tests.advice import golden_examples, published
from tests.floor_page import floor_page
from tests.mistakes_page import mistakes_pages
from tests.practice_files import practice_texts
from tests.settings_page import settings_page
from tests.shared import ROOT
from tests.twins_page import twins_page
from trainyard.cli.files import as_json
from trainyard.cli.schema import SCHEMA_FILE, schema_document
from trainyard.components.plugin import provider
from trainyard.monitoring.pages import monitoring_page, runbook_pages
from trainyard.output import as_text
from trainyard.plan.resolve import resolve_stack
from trainyard.rehearsal.engine.project import stack_files, stack_of
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.reports import terminal
from trainyard.review.review import Review, review
from trainyard.settings.declarations import project_file
from trainyard.smoke_jobs import gates

GOLDEN = ROOT / "tests" / "golden"
EXAMPLES = tuple(stack_of(file) for file in stack_files(ROOT / "stacks"))
TWINS = ROOT / "docs" / "explanation" / "twins.md"
FLOOR = ROOT / "docs" / "explanation" / "idle-floor.md"
LONGEST_TEXT = 2000
_LEFT_OUT = {"propertyDependencies", "parent", "fromCheck"}


def plan_text(stack: str) -> str:
    """The plan of one example as JSON."""
    return _json(resolve_stack(ROOT, stack).plan.as_dict())


def rehearsal_text(rehearsal: Rehearsal) -> str:
    """What the rehearsal of one example records and finds."""
    found = rehearsal.as_json()
    kept: dict[str, Any] = {key: found[key] for key in ("outputs", "findings", "critical_path")}
    kept["resources"] = [
        {key: value for key, value in resource.items() if key not in _LEFT_OUT and value not in ([], {}, False, "")}
        for resource in found["resources"]
    ]
    return _json(_short(kept))


def schema_text() -> str:
    """What the components are to other languages, without descriptions: a change of it changes their contract."""
    schema = json.loads(provider().schema)
    return _json(_undescribed({key: value for key, value in schema.items() if key not in ("version", "language")}))


def readme_text(told: Review) -> str:
    """The README with what `trainyard rehearse demo` prints first."""
    before, title, after = (ROOT / "README.md").read_text(encoding="utf-8").partition("## What `make demo` shows\n")
    printed = as_text(lambda out: out.print(terminal.head(told)))
    prose, _, rest = after.partition("```\n")
    return f"{before}{title}{prose}```\n{printed}```\n{rest.partition('```' + chr(10))[2]}"


def floor_text() -> str:
    """What demo pays while no job runs, before and after it was made frugal."""
    cost = review(ROOT, ROOT / "stacks" / "Pulumi.demo.yaml").cost
    if cost is None:
        raise ValueError("demo is not sound, and has no price")
    return floor_page(cost.lines)


def _undescribed(value: Any) -> Any:
    if isinstance(value, dict):
        # A property called "description" is an object, a description a text.
        return {
            key: _undescribed(item)
            for key, item in value.items()
            if not (key == "description" and isinstance(item, str))
        }
    return [_undescribed(item) for item in value] if isinstance(value, list) else value


def _short(value: Any) -> Any:
    """Long texts (programs in ConfigMaps, whose own files a review sees) as their digest."""
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_short(item) for item in value]
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"sha256:{hashlib.sha256(value.encode()).hexdigest()} of {len(value)} characters"
    return value


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def golden_texts() -> dict[Path, str]:
    """Every golden file with what it should hold now."""
    texts = {ROOT / "Pulumi.yaml": project_file("stacks"), GOLDEN / "components.schema.json": schema_text()}
    texts |= {path: text() for path, text in SETTINGS_TEXTS.items()}
    texts[ROOT / "README.md"] = readme_text(review(ROOT, ROOT / "stacks" / "Pulumi.demo.yaml"))
    texts |= {ROOT / "docs" / file: text for file, text in mistakes_pages().items()}
    texts |= {gates.FILE: gates.thresholds_text(), ROOT / "docs" / "smoke.md": gates.page()}
    texts[ROOT / "docs" / "monitoring.md"] = monitoring_page()
    rehearsed = {stack: rehearse(ROOT, stack) for stack in EXAMPLES}
    texts[TWINS] = twins_page(rehearsed["demo"].resources, rehearsed["demo-gcp"].resources)
    texts[FLOOR] = floor_text()
    texts |= {ROOT / "docs" / "runbooks" / file: text for file, text in runbook_pages().items()}
    for stack in EXAMPLES:
        texts[GOLDEN / f"{stack}.plan.json"] = plan_text(stack)
        texts[GOLDEN / f"{stack}.rehearsal.json"] = rehearsal_text(rehearsed[stack])
    return texts


SETTINGS_TEXTS = {
    ROOT / "docs" / SCHEMA_FILE: lambda: as_json(schema_document()),
    ROOT / "docs" / "settings.md": settings_page,
}
"""What the settings say of themselves: to an editor, and to a reader."""


def main() -> None:
    """Writes every golden file, the tables of `docs/recommender.md`, and what judges practise on.

    Of the last a test holds only that no type is missing: nothing of it needs to be true.
    """
    golden_examples.write()
    published.write()
    practice = practice_texts({stack: rehearse(ROOT, stack) for stack in EXAMPLES})
    for path, text in {**golden_texts(), **practice}.items():
        changed = not path.exists() or path.read_text() != text
        path.write_text(text)
        print(f"{'written' if changed else 'unchanged'} {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
