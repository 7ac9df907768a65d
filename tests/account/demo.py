"""The demo stack as a look ahead sees it."""

from __future__ import annotations

import pytest

from tests.shared import ROOT
from trainyard.plan.resolve import resolve_stack
from trainyard.preflight.model import Subject
from trainyard.recorded.resources import Resources


@pytest.fixture(scope="module")
def subject(rehearsed) -> Subject:
    plan = resolve_stack(ROOT, ROOT / "stacks" / "Pulumi.demo.yaml").plan
    return Subject("demo", plan, Resources(rehearsed("demo").resources))
