"""The golden plan and rehearsal of each example stack, and the components' schema (`make golden` writes them anew)."""

import pytest

from tests.golden_files import EXAMPLES, GOLDEN, plan_text, rehearsal_text, schema_text


@pytest.mark.parametrize("stack", EXAMPLES)
def test_plan(stack):
    assert plan_text(stack) == (GOLDEN / f"{stack}.plan.json").read_text()


@pytest.mark.parametrize("stack", EXAMPLES)
def test_rehearsal(stack):
    assert rehearsal_text(stack) == (GOLDEN / f"{stack}.rehearsal.json").read_text()


def test_schema_of_the_components():
    assert schema_text() == (GOLDEN / "components.schema.json").read_text()
