"""When idle jobs give their GPUs back: where somebody measures, and as the settings say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import keys, plan_of
from trainyard.plan.parts import IdleJobsPlan
from trainyard.problems import SettingsError


def idle(**settings: Any) -> IdleJobsPlan | None:
    return plan_of(**settings).clusters[0].idle_jobs


def test_by_default_after_three_quarters_of_an_hour_and_a_warning() -> None:
    assert idle() == IdleJobsPlan(after_minutes=45, grace_minutes=15)


def test_the_settings_decide() -> None:
    assert idle(**keys(idle_jobs=keys(after_minutes=120, grace_minutes=60))) == IdleJobsPlan(120, 60)
    assert idle(**keys(idle_jobs={"evict": False})) is None


def test_without_figures_nobody_is_judged() -> None:
    assert idle(monitoring={"enabled": False}) is None
    with pytest.raises(SettingsError, match=r"idleJobs\.evict: got (T|t)rue; needs monitoring\.enabled"):
        plan_of(monitoring={"enabled": False}, **keys(idle_jobs={"evict": True}))
