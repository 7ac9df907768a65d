"""Changes of the nine stacks as teams make them, put to the whole verdict, and what is right beside each rule."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.rehearsal.works import mistakes_team_changes as team
from tests.rehearsal.works.mistakes import context_of, rules_of, told
from tests.rehearsal.works.test_k8s_sets import of
from tests.rehearsal.works.together import told_together
from tests.shared import ROOT
from trainyard.components.k8s.keepers.budgets import spent_of_month
from trainyard.problems import SettingsError
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.rehearse import rehearse

__all__ = ["of"]  # the fixture

MISTAKES = (*team.REFUSED, *team.SILENT, *team.WIDER)
BESIDE = team.BESIDE | team.BELIEVED
SETTINGS = (
    ("demo", {"storage": {"artifactTransitionDays": 14}}, "storage.artifactTransitionDays"),
    ("demo", {"storage": {"checkpointKeepVersions": 150}}, "storage.checkpointKeepVersions"),
    ("demo", {"mlflow": {"workers": 8, "memory": "512Mi"}}, "mlflow.memory"),
    ("demo", {"teamBudgets": {"gpuHourUsd": {"train-reserve": 5.2}}}, "teamBudgets.gpuHourUsd"),
    ("demo", {"monitoring": {"alerts": {"budgetPercents": [0.5, 0.8, 1.0]}}}, "monitoring.alerts.budgetPercents"),
    ("demo-gcp", {"monitoring": {"retentionDays": 14}}, "monitoring.retentionDays"),
    ("demo-gcp", {"scheduler": {"podsReadyTimeoutMinutes": 3}}, "scheduler.podsReadyTimeoutMinutes"),
    ("uae-small", {"teams": [{"name": "imaging", "members": 1, "people": ["aisha.k"]}]}, "teams[0].people[0]"),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.name)
def test_a_mistake_is_told(of, mistake):
    assert mistake.rule in rules_of(of(mistake.stack), mistake)


@pytest.mark.parametrize(("stack", "overrides", "path"), SETTINGS, ids=lambda one: one if isinstance(one, str) else "")
def test_a_setting_is_refused_before_anything_runs(stack, overrides, path):
    with pytest.raises(SettingsError) as refused:
        rehearse(ROOT, stack, config_overrides=overrides)
    assert path in str(refused.value)


@pytest.mark.parametrize("sound", team.SOUND)
def test_what_is_right_is_believed(of, sound):
    assert _held(of, sound, {what: (stack, None, change) for what, (stack, change) in team.SOUND.items()}) == []


@pytest.mark.parametrize("beside", BESIDE)
def test_what_is_right_beside_a_rule_is_believed(of, beside):
    assert _held(of, beside, BESIDE) == []


def _held(of, what, changes):
    """What is told of a change; where it stands beside a rule, of that rule alone."""
    name, rule, _ = changes[what]
    stack = of(name)
    context = replace(context_of(stack), ours=True)

    def judged(resources):
        return [*check_values(resources, context), *told(stack, lambda _: list(resources), ours=True)]

    own = {one: change for one, (of_stack, _, change) in changes.items() if of_stack == name}
    accuses = (lambda one, finding: finding.rule == changes[one][1]) if rule is not None else (lambda *_: True)
    return told_together((__name__, rule is None, name), what, stack.known.resources, own, judged, accuses)


def test_the_keeper_knows_a_figure_by_its_team_and_its_month():
    now = time.time()
    month = str(datetime.fromtimestamp(now, UTC).month)
    rows = [({"team": "a", "month": month}, 1.0), ({"team": "b"}, 1.0), ({"month": month}, 1.0)]
    assert spent_of_month(rows, now) == {"a": 1.0}
