"""What `make golden` writes: the plan and rehearsal of each example stack, and what the code says of itself."""

import pytest

from tests.golden_files import EXAMPLES, GOLDEN, SETTINGS_TEXTS, plan_text, readme_text, rehearsal_text, schema_text
from tests.shared import ROOT


@pytest.mark.parametrize("stack", EXAMPLES)
def test_plan(stack):
    assert plan_text(stack) == (GOLDEN / f"{stack}.plan.json").read_text()


@pytest.mark.parametrize("stack", EXAMPLES)
def test_rehearsal(stack, rehearsed):
    assert rehearsal_text(rehearsed(stack)) == (GOLDEN / f"{stack}.rehearsal.json").read_text()


def test_schema_of_the_components():
    assert schema_text() == (GOLDEN / "components.schema.json").read_text()


def test_the_readme_shows_what_is_printed(reviewed):
    assert readme_text(reviewed("demo")) == (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", SETTINGS_TEXTS, ids=lambda path: path.name)
def test_what_the_settings_say_of_themselves(path):
    assert path.read_text() == SETTINGS_TEXTS[path]()
