"""Values of Helm releases against the values that the pinned charts know (`data/charts.json`)."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.queue_manager import minor_version
from trainyard.recorded.read import as_number, is_set, value_at
from trainyard.recorded.types import HELM_RELEASE
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.refusals.kubernetes.chart_parts import OPEN, check_parts, spell
from trainyard.rehearsal.refusals.kubernetes.chart_words import check_words
from trainyard.rehearsal.refusals.kubernetes.schema import Checker

# Marks on a node of the tree; no value's name begins with a null character.
_MAP, _UNREAD, _KIND = "\0map", "\0unread", "\0kind"


@cache
def _charts() -> dict[str, Any]:
    text = files("trainyard.rehearsal.refusals.data").joinpath("charts.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)["charts"]
    return found


def read_charts() -> frozenset[str]:
    """The charts whose values are known here: none of them makes an object of a kind that another one defines."""
    return frozenset(_charts())


def is_read(view: View) -> bool:
    """Whether a resource is no release, or one of a chart whose values are known: which makes no priority class."""
    return view.type != HELM_RELEASE or (view.text("chart") or "").rpartition("/")[2] in _charts()


_GROUPS: Final = {"jobset": "jobset.x-k8s.io", "kubeflow-trainer": "trainer.kubeflow.org"}
"""Charts that bring kinds of an alpha version, and their group: what a field is called changes with a minor version."""


_OF_TRAINER: Final = "trainer.kubeflow.org"
_FORMER: Final = ("podSpecOverrides", "podTemplateOverrides", "mlPolicy.torch.numProcPerNode")
"""Fields under `spec` that Kubeflow Trainer had before 2.3: who writes one has an earlier one, installed elsewhere."""


def groups_of_other_versions(stack: Stack) -> Iterator[str]:
    """The groups whose kinds are in the cluster in another minor version than the one that is known here, as far as a
    release of the stack, or an object itself, says so."""
    trainers = [view for view in stack.views if view.type.startswith(f"kubernetes:{_OF_TRAINER}/")]
    former = any(view.has(f"spec.{path}") for view in trainers for path in _FORMER)
    if former and not any(_is_trainer(release) for release in stack.of_type(HELM_RELEASE)):
        yield _OF_TRAINER
    for release in stack.resources.of(HELM_RELEASE):
        chart = str(value_at(release.inputs, "chart", unknown="")).rpartition("/")[2]
        if chart not in _GROUPS or not is_set(release.inputs, "version"):
            continue
        major, minor, *_ = str(_charts()[chart]["version"]).removeprefix("v").split(".")
        if minor_version(release) != (int(major), int(minor)):
            yield _GROUPS[chart]


def _is_trainer(release: View) -> bool:
    return (release.text("chart") or "").rpartition("/")[2] == "kubeflow-trainer"


@cache
def _tree(chart: str) -> dict[str, Any]:
    facts = _charts()[chart]
    root: dict[str, Any] = {}
    for field, mark in (("maps", _MAP), ("paths", ""), ("open", OPEN), ("unread", _UNREAD)):
        for path in facts[field]:
            node = _node(root, path)
            if mark:
                node[mark] = True
    for kind, paths in facts["kinds"].items():
        for path in paths:
            _node(root, path)[_KIND] = kind
    return root


def _node(root: dict[str, Any], path: str) -> dict[str, Any]:
    """The node of a path, made where it is not there yet."""
    for name in re.split(r"(?<!\\)\.", path):
        root = root.setdefault(name.replace("\\.", "."), {})
    return root


def check(view: View, checker: Checker) -> None:
    """Unknown values are errors (Helm would ignore them), unread ones warnings; another version is unchecked."""
    chart = view.text("chart")
    name = chart.rpartition("/")[2] if chart else ""
    version = view.text("version")
    if chart and view.lacks("version") and not chart.startswith((".", "/")):
        view.error(
            "helm-version", "version", "is missing: the newest version would be installed", allowed="a pinned version"
        )
    if chart and chart.startswith("oci://") and view.has("repositoryOpts.repo"):
        view.error(
            "helm-repository", "repositoryOpts.repo", "given for an OCI chart", allowed="the whole address in chart"
        )
    if name not in _charts():
        if name:
            view.warning("helm-unchecked", "chart", f"the values of chart {show(name)} are not known here")
        return
    facts = _charts()[name]
    check_words(view, view.mapping("values"))
    if version is not None and version.removeprefix("v") != str(facts["version"]).removeprefix("v"):
        view.warning(
            "helm-unchecked",
            "version",
            f"got {version}: values are known for {facts['version']}, so they are not checked",
        )
        return
    _walk(view, view.mapping("values"), [_tree(name)], _tree(name), (), name)
    check_parts(view, view.mapping("values"), [_tree(name)], (), checker, name)


def _walk(
    view: View,
    values: Mapping[str, Any],
    nodes: list[dict[str, Any]],
    tree: dict[str, Any],
    path: tuple[str, ...],
    chart: str,
) -> None:
    # A name can match both itself and `*`, so several nodes may stand for one path.
    for name, value in values.items():
        here = (*path, str(name))
        spelt = "values." + spell(here)
        found = [node[key] for node in nodes for key in (str(name), "*") if key in node]
        if not found:
            view.error(
                "helm-unknown-value",
                spelt,
                f"chart {chart} has no such value and would ignore it",
                hint=_hint(here, nodes, tree),
            )
        elif any(_UNREAD in node for node in found):
            view.warning("helm-unread-value", spelt, f"no template of chart {chart} reads it")
        elif any(node.get(OPEN) for node in found) or value is None or value is UNKNOWN:
            for kind in {node[_KIND] for node in found if node.get(_KIND) == "list"}:
                _of_kind(view, spelt, value, kind)
        elif isinstance(value, Mapping):
            _walk(view, value, found, tree, here, chart)
        elif all(node.get(_MAP) for node in found):
            view.error("helm-value-type", spelt, f"got {show(value)}", allowed="has to be a map")
        elif len(kinds := {node.get(_KIND) for node in found}) == 1:
            _of_kind(view, spelt, value, kinds.pop())


def _of_kind(view: View, spelt: str, value: Any, kind: str | None) -> None:
    """Notes a value of another kind than the chart's own default, and not one that a template takes as well.

    A template asks `if` of a switch, and every text but the empty one is true, "false" too; it walks a list; it writes
    a text or a number out as it is, so that one is as good as the other.
    """
    if value is None or value is UNKNOWN or kind is None:
        return
    is_list, is_map = isinstance(value, list), isinstance(value, Mapping)
    wrong = {
        "list": not is_list,
        "bool": is_list or is_map or (isinstance(value, str) and value != "true"),
        "int": is_list or is_map or isinstance(value, bool) or (isinstance(value, str) and not _number(value)),
        "string": is_list or is_map,
    }[kind]
    if wrong and not (isinstance(value, str) and "{{" in value):  # a chart may expand it
        allowed = {"list": "a list", "bool": "true or false, no text", "int": "a number", "string": "a text"}[kind]
        view.error("helm-value-type", spelt, f"got {show(value)}", allowed=f"has to be {allowed}")


def _number(text: str) -> bool:
    """Whether a text is a number, or a share of one, as disruption budgets and updates take it."""
    return as_number(text.removesuffix("%")) is not None


def _hint(path: tuple[str, ...], nodes: list[dict[str, Any]], tree: dict[str, Any]) -> str:
    siblings = [name for node in nodes for name in node if name != "*" and not name.startswith("\0")]
    near = [(*path[:-1], name) for name in difflib.get_close_matches(path[-1], siblings, n=2)]
    near = near or sorted(_paths_to(path[-1], tree, ()), key=len)[:2]
    return f"did you mean {' or '.join(map(spell, near))}?" if near else ""


def _paths_to(wanted: str, node: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name in node:
        if not name.startswith("\0"):
            if name == wanted:
                yield (*path, name)
            yield from _paths_to(wanted, node[name], (*path, name))
