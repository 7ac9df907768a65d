"""Profiles: every figure has a source, sizes do not overlap, and no figure is idle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.plan.stack_files import gpu_pool, keys, node_range, plan_of
from trainyard.plan import people, profiles
from trainyard.plan.people import resolve_profile
from trainyard.plan.profiles import PROFILE_NAMES, Figure, Profile, profile
from trainyard.problems import SettingsError


@pytest.mark.parametrize("name", PROFILE_NAMES)
def test_every_figure_has_a_source(name):
    figures = profile(name).figures
    assert figures
    for path, figure in figures.items():
        assert len(figure.source) > 5, path
        if isinstance(figure.value, int | float) and not isinstance(figure.value, bool) and "priorities" not in path:
            assert figure.unit, f"{path} is a number without a unit"


@given(st.integers(1, 10_000))
def test_every_size_has_exactly_one_profile(size):
    within = [
        name
        for name in PROFILE_NAMES
        if profile(name).figure("team_size.minimum").value <= size <= profile(name).figure("team_size.maximum").value
    ]
    assert within == [resolve_profile(size)]


def test_bounds_of_the_profiles():
    assert [resolve_profile(size) for size in (1, 4, 5, 19, 20)] == ["small", "small", "medium", "medium", "large"]
    for size in (0, -3, 10_001):
        with pytest.raises(SettingsError, match=f"teamSize: got {size}; must be 1 to 10000 people"):
            resolve_profile(size)


@pytest.mark.parametrize(
    ("size", "name", "budget"),
    [
        (1, "small", 500),
        (3, "small", 10_168),
        (4, "small", 15_000),
        (5, "medium", 35_000),
        (6, "medium", 37_600),
        (12, "medium", 53_200),
        (20, "large", 75_000),
        (5000, "large", 500_000),
    ],
)
def test_budgets_are_the_seed_s_ranges(size, name, budget):
    assert profile(name).figure("budget.monthly_usd").at(size) == budget


@given(st.integers(1, 9_999), st.sampled_from(["medium", "large"]))
def test_figures_never_shrink_with_the_team(size, name):
    for figure in profile(name).figures.values():
        if isinstance(figure.value, int | float) and not isinstance(figure.value, bool):
            assert figure.at(size) <= figure.at(size + 1)


def test_a_figure_rounds_up_in_decimal():
    assert Figure("x", 0, "s", per_member=0.1).at(10) == 1
    assert Figure("x", 0, "s", per_member=0.1).at(11) == 2
    assert Figure("x", 15_000, "s", per_member=4000, from_members=5).at(3) == 15_000
    assert Figure("x", 0, "s", per_member=2, minimum=16, maximum=20).at(1) == 16
    assert Figure("x", 0, "s", per_member=2, minimum=16, maximum=20).at(100) == 20


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"nodes": 3}, "nodes: a figure needs a value and a source, got 3"),
        ({"nodes": {"value": 3}}, "nodes: a figure needs a source"),
        ({"a": {"nodes": {"value": 3, "source": "s", "per_head": 1}}}, "a.nodes: a figure has no per_head"),
    ],
)
def test_a_profile_with_a_bare_number_is_refused(tree, message):
    with pytest.raises(ValueError, match=message):
        list(profiles._figures(tree, ""))


def test_every_figure_decides_something(monkeypatch):
    """A figure that no plan reads would be a lie about the environment."""
    read: set[str] = set()

    class Watched(Profile):
        def figure(self, path):
            read.add(path)
            return super().figure(path)

    monkeypatch.setattr(people, "profile", lambda name: Watched(name, profile(name).figures))
    plan_of()
    plan_of(storage={"lustre": {"enabled": True}})
    plan_of(gpuPools={"extra": gpu_pool(gpu="L4", spot=node_range(0, 1))})
    plan_of(teams=None, profile="medium")
    block = keys(
        reservation_id="cr-0123456789abcdef0",
        kind="capacity-block",
        nodes=2,
        availability_zone="us-east-1b",
        end="2026-12-15T11:30:00Z",
    )
    plan_of(gpuPools={"train": gpu_pool(reserved=block)})
    google = keys(project="acme-ml", project_number="123456789012")
    plan_of(cloud="gcp", region="us-central1", gcp=google, storage={"sharedFileSystem": True})
    resolve_profile(12)
    assert read == set(profile("medium").figures)
