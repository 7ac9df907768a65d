"""Every drawing keeps its boxes apart and its texts inside them, whatever the environment is like."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import EXAMPLES
from trainyard.review.reports.picture.layout import WIDTHS, drawings
from trainyard.review.reports.picture.lettering import MOST_LINES, PLAIN, SOFT, STYLES, broken, printable, width_of
from trainyard.review.reports.picture.model import (
    Budget,
    Cluster,
    Network,
    NodeGroupFigures,
    Picture,
    Pool,
    Quota,
    Service,
    Store,
    Subnet,
    Team,
    Zone,
)
from trainyard.review.reports.picture.read import picture_of
from trainyard.review.reports.picture.shapes import Box, Text
from trainyard.review.reports.picture.words import said_of

TOLERANCE = 0.01  # of a pixel: sums of binary fractions
DESCENT = 0.3  # of a font size, below the baseline

names = st.one_of(
    st.sampled_from(
        ("train", "m", "", "a-" * 40, "WWWWWWWWWWWWWWWWWWWW", "団体 研究", "<script>alert(1)</script>", "a\x00b\n")
    ),
    st.text(max_size=80),
)
short_lists = st.lists(names, max_size=4).map(tuple)
counts = st.integers(0, 200)


def some(strategy, most):
    return st.lists(strategy, max_size=most).map(tuple)


groups = st.builds(
    NodeGroupFigures,
    urn=names,
    name=names,
    capacity=st.sampled_from(("reserved", "spot", "on-demand", None)),
    min_nodes=st.none() | counts,
    max_nodes=st.none() | counts | st.just(10**9),
    gpus_per_node=st.integers(0, 16),
    instance_types=short_lists,
    zones=short_lists,
    facts=short_lists,
    chips_per_node=st.sampled_from((0, 0, 4)),
)
pools = st.builds(Pool, name=names, gpu=st.sampled_from(("", "H100")), groups=some(groups, 3))
clusters = st.builds(
    Cluster, urn=names, name=names, version=names, reach=names, facts=short_lists, pools=some(pools, 10), network=names
)
subnets = st.builds(Subnet, name=names, cidr=names, reach=st.sampled_from(("public", "private", "isolated", "")))
zones = st.builds(Zone, name=names, subnets=some(subnets, 14), nat_gateways=st.integers(0, 3))
networks = st.builds(
    Network,
    urn=names,
    name=names,
    cidr=names,
    zones=some(zones, 6),
    has_internet_gateway=st.booleans(),
    endpoints=short_lists,
    flow_logs=names,
)
stores = st.builds(Store, urn=names, name=names, kind=names, facts=short_lists, marks=short_lists)
quotas = st.builds(Quota, pool=names, gpus=st.floats(0, 5000), nodes=st.none() | counts)
slices = some(st.tuples(names, st.floats(0.5, 5000)), 3)
teams = st.builds(Team, urn=names, name=names, quotas=st.none() | some(quotas, 10), lends=st.booleans(), slices=slices)
budgets = st.builds(
    Budget,
    urn=names,
    limit=st.none() | st.floats(0, 1e9),
    unit=st.sampled_from(("USD", "?")),
    period=st.sampled_from(("a month", "")),
    thresholds=some(st.tuples(st.floats(0, 500), st.booleans()), 6),
    facts=short_lists,
)
pictures = st.builds(
    Picture,
    stack=names,
    places=short_lists,
    networks=some(networks, 2),
    clusters=some(clusters, 2),
    stores=some(stores, 6),
    databases=some(stores, 2),
    teams=some(teams, 30),
    services=some(st.builds(Service, urn=names, name=names, facts=short_lists), 2),
    budgets=some(budgets, 2),
    others=some(st.tuples(names, counts), 15),
    expected_usd=st.none() | st.floats(0, 1e9),
    wrong=st.dictionaries(names, st.integers(1, 30), max_size=3),
)


def extent(shape):
    """Left, top, right and bottom."""
    if isinstance(shape, Box):
        return shape.x, shape.y, shape.x + shape.width, shape.y + shape.height
    return shape.left, shape.y - shape.style.size * 0.8, shape.right, shape.y + shape.style.size * DESCENT


def misplaced(shapes, width, height):
    """What lies outside its box, or over what lies beside it; at every depth."""
    places = [(shape, extent(shape)) for shape in shapes]
    for shape, (left, top, right, bottom) in places:
        if min(left, top) < -TOLERANCE or right > width + TOLERANCE or bottom > height + TOLERANCE:
            yield "outside", shape, (width, height)
    ordered = sorted(places, key=lambda place: place[1][1])
    for index, (one, (left, _, right, bottom)) in enumerate(ordered):
        for other, (left2, top2, right2, _) in itertools.islice(ordered, index + 1, None):
            if top2 >= bottom - 1:  # lines of text may touch
                break
            if left2 < right - TOLERANCE and left < right2 - TOLERANCE:
                yield "over", one, other
    for shape in shapes:
        if isinstance(shape, Box):
            yield from misplaced(shape.parts, shape.width, shape.height)


def texts(shapes):
    for shape in shapes:
        if isinstance(shape, Text):
            yield shape.text
        else:
            yield from texts(shape.parts)


def sound(picture):
    for drawing in drawings(picture):
        assert not list(misplaced(drawing.shapes, drawing.width, drawing.height))
    assert said_of(picture)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(pictures)
def test_nothing_overlaps_and_every_text_fits_its_box(picture):
    sound(picture)


@pytest.mark.parametrize("stack", EXAMPLES)
def test_the_drawings_of_an_example_stack_are_sound(rehearsed, stack):
    sound(picture_of(stack, rehearsed(stack).resources))


def test_thirty_teams_and_ten_pools_are_all_there():
    group = NodeGroupFigures("", "spot", "spot", 0, 40, 8, ("p5.48xlarge",), ("a", "b"), ("EFA × 32",))
    all_pools = tuple(Pool(f"pool-{index}", "H100", (group,)) for index in range(10))
    owned = tuple(Quota(pool.name, 8.0, 1) for pool in all_pools)
    everybody = tuple(Team("", f"team-{index}", owned, True) for index in range(30))
    cluster = Cluster("", "big", "1.35", "private only", (), all_pools, "")
    picture = Picture("big", (), (), (cluster,), (), (), everybody, (), (), ())
    sound(picture)
    for drawing in drawings(picture):
        shown = set(texts(drawing.shapes))
        assert {f"team-{index}" for index in range(30)} | {f"Pool pool-{index}" for index in range(10)} <= shown
        assert drawing.height < 40 * drawing.width


def test_a_checker_that_finds_nothing_would_prove_nothing():
    apart = Box(0, 0, 10, 10, ""), Box(20, 0, 10, 10, "")
    assert not list(misplaced(apart, 40, 40))
    assert [what for what, *_ in misplaced((*apart, Box(5, 5, 10, 10, "")), 40, 40)] == ["over"]
    assert [what for what, *_ in misplaced((Text(0, 20, "too long", PLAIN),), 20, 40)] == ["outside"]
    assert [what for what, *_ in misplaced((Box(0, 0, 9, 9, "", (Box(5, 5, 9, 2, ""),)),), 40, 40)] == ["outside"]


@given(st.text(max_size=300), st.floats(20, 400), st.sampled_from(STYLES))
def test_broken_text_fits_and_loses_nothing(text, width, style):
    text = printable(text)
    lines = broken(text, width, style)
    assert all(width_of(line, style) <= width for line in lines) and len(lines) <= MOST_LINES
    if len(lines) < MOST_LINES:
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_telephone_shows_no_text_smaller_than_eleven_pixels():
    content = 390 - 2 * 12  # of a page with its margin of .75rem
    assert min(style.size for style in STYLES) * content / WIDTHS["narrow"] >= 11
    assert min(style.size for style in STYLES) * (740 - 2 * 16 - 2 * 20 - 2) / WIDTHS["middle"] >= 11
    assert min(style.size for style in STYLES) * (1000 - 2 * 16 - 2 * 20 - 2) / WIDTHS["wide"] >= 11


def test_widths_of_text_are_not_below_those_of_the_font():
    """Advance widths of DejaVu Sans 2.37, in 2048ths of the font size, from its `hmtx` table."""
    for character, units in {"A": 1401, "W": 2025, "i": 569, "0": 1303, " ": 651, "@": 2048, "m": 1995}.items():
        assert width_of(character, SOFT) >= SOFT.size * units / 2048
