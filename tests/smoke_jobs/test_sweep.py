"""A sweep names what is bad: seeded bad nodes and links, of pools of many sizes."""

from __future__ import annotations

import random

import pytest

from trainyard.smoke_jobs.sweep import Ran, isolate, medians, rounds, table


def swept(nodes: list[str], bad: set[str], links: set[frozenset[str]], alone: bool) -> list[Ran]:
    """What the jobs of a sweep would find; a node that is not bad `alone` fails only with another."""
    found = [Ran((name,), not (alone and name in bad), "ECC" if alone and name in bad else "") for name in nodes]
    left = [run.nodes[0] for run in found if run.passed]
    for pairs in rounds(left):
        for pair in pairs:
            broken = bool(set(pair) & bad) or frozenset(pair) in links
            found.append(Ran(pair, not broken, "busbw" if broken else ""))
    return found


@pytest.mark.parametrize("count", range(2, 12))
def test_pairs_are_swapped_and_no_node_is_in_two_at_once(count: int) -> None:
    nodes = [f"n{number}" for number in range(count)]
    all_pairs = [pair for pairs in rounds(nodes) for pair in pairs]
    assert len({frozenset(pair) for pair in all_pairs}) == len(all_pairs)
    for pairs in rounds(nodes):
        names = [name for pair in pairs for name in pair]
        assert len(names) == len(set(names)), "as many at once as there are"
    met = {name: sum(name in pair for pair in all_pairs) for name in nodes}
    assert set(met.values()) == ({1} if count == 2 else {2})
    assert rounds(["one"]) == ()


@pytest.mark.parametrize("seed", range(40))
def test_a_single_bad_node_is_named(seed: int) -> None:
    chance = random.Random(seed)
    nodes = [f"n{number}" for number in range(chance.randint(3, 40))]
    bad = chance.choice(nodes)
    verdict = isolate(swept(nodes, {bad}, set(), alone=chance.random() < 0.5))
    assert (set(verdict.bad_nodes), dict(verdict.bad_links)) == ({bad}, {}), seed


@pytest.mark.parametrize("seed", range(40))
def test_a_single_bad_link_is_named_and_no_node(seed: int) -> None:
    chance = random.Random(seed)
    nodes = [f"n{number}" for number in range(chance.randint(3, 40))]
    link = chance.choice([pair for pairs in rounds(nodes) for pair in pairs])
    verdict = isolate(swept(nodes, set(), {frozenset(link)}, alone=False))
    assert (dict(verdict.bad_nodes), set(verdict.bad_links)) == ({}, {link}), seed


def test_two_nodes_cannot_tell_who_of_them_it_is() -> None:
    verdict = isolate(swept(["a", "b"], {"b"}, set(), alone=False))
    assert set(verdict.bad_links) == {("a", "b")} and not verdict.bad_nodes and not verdict.passed


def test_a_pool_without_fault_passes_and_what_had_no_nodes_is_unknown() -> None:
    results = swept([f"n{number}" for number in range(6)], set(), set(), alone=True)
    assert isolate(results).passed
    verdict = isolate([*results, Ran(("n9",), None, "no nodes in time")])
    assert verdict.unknown == (("n9",),) and not verdict.passed and not verdict.bad_nodes


def test_a_node_that_passes_its_gate_and_is_slower_than_the_others_is_named() -> None:
    speeds = {"a": 700.0, "b": 702.0, "c": 560.0, "d": 695.0}
    results = [Ran((name,), True, "", {"TFLOPS": value}) for name, value in speeds.items()]
    assert medians(results, 1) == {"TFLOPS": 697.5}
    verdict = isolate(results)
    assert set(verdict.bad_nodes) == {"c"} and "560, the median of the pool is 697.5" in verdict.bad_nodes["c"]
    assert "c  pass  TFLOPS 560 (80% of the median)" in table(results).splitlines()
    assert isolate(results[:2]).passed, "two do not say who is slow"
