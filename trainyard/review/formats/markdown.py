"""A check beside an earlier one, as Markdown for a pull request: what changes in plan, price and violations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.review.change.markdown import lines as change_lines
from trainyard.review.formats.document import stack_json
from trainyard.review.formats.markdown_text import code, literal
from trainyard.review.review import Outcome, Review
from trainyard.review.verdict import State, Verdict, dollars

MARKER = "<!-- trainyard check -->"
"""First line of a comment, by which a pipeline finds and replaces its earlier one."""
MOST_CHANGES = 40
AMOUNTS = ("floor", "expected", "ceiling")
_MARKS = {"good": "✅", "warn": "⚠️", "bad": "❌"}
_IGNORED = ("decisions",)  # says in prose what the other keys say in figures


def part(
    outcome: Outcome,
    earlier: Mapping[str, Any] | None = None,
    *,
    compared: bool = False,
    stack: dict[str, Any] | None = None,
) -> str:
    """One stack's section. `earlier`: the stack in an earlier check; `compared`: whether there was a check at all;
    `stack`: its `stack_json`, where that was asked for already."""
    change = outcome.change if isinstance(outcome, Review) else None
    told = list(change_lines(change)) if change is not None else []
    here = stack_json(outcome) if stack is None else stack
    return "\n".join(_section(here, earlier, compared=compared, change=told)).rstrip() + "\n"


def whole(parts: Sequence[str], verdicts: Sequence[Verdict], removed: Sequence[str] = ()) -> str:
    """All stacks as one comment. `removed`: those of the earlier check that are no longer there."""
    lines = [f"{MARKER}\n## Trainyard check\n"]
    if len(verdicts) > 1:
        lines += ["\n".join(_table(verdicts)) + "\n"]
    lines += [*parts, *(f"### {literal(name)}\n\nRemoved.\n" for name in removed)]
    return "\n".join(lines).rstrip() + "\n"


def kept_for_comparison(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By stack what a section needs of an earlier check's JSON.

    Raises AttributeError, KeyError, TypeError or ValueError where the document is none.
    """
    return {
        str(stack["stack"]): {
            "plan": dict(stack.get("plan", {})),
            "violations": [
                {key: str(violation[key]) for key in ("policy", "urn", "message")}
                for violation in stack.get("violations", [])
            ],
            "cost": {key: float(stack["cost"][key]) for key in AMOUNTS} if stack.get("cost") else {},
        }
        for stack in document["stacks"]
    }


def _table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield "| stack | verdict | USD a month expected | budget |"
    yield "| --- | --- | ---: | ---: |"
    for told in verdicts:
        money = told.money
        month = dollars(money.expected) if money is not None else "–"
        budget = dollars(money.budget) if money is not None and money.budget is not None else "–"
        yield f"| {literal(told.stack)} | {_MARKS[told.state.mood]} {told.state.value} | {month} | {budget} |"


def _section(
    now: Mapping[str, Any], then: Mapping[str, Any] | None, *, compared: bool, change: Sequence[str]
) -> list[str]:
    told = now["verdict"]
    lines = [f"### {_MARKS[State(told['state']).mood]} {literal(told['headline'])}", "", *change]
    if told["money"] is not None:
        lines += [f"**Money**: {literal(told['money']['sentence'])}.", ""]
    lines += ["**Next**", "", *(f"- {literal(step)}" for step in told["next_steps"]), ""]
    if compared and then is None:
        lines += ["New stack.", ""]
    if "problems" in now:
        lines += [
            f"- {code(problem['key'])}{_at(now['file'], problem['line'])}: got {literal(problem['got'])};"
            f" {literal(problem['allowed'])}"
            for problem in now["problems"]
        ]
        return [*lines, ""]
    lines += [f"- {item['level']} {code(item['rule'])} {_finding(item)}" for item in now["findings"]]
    if now["findings"]:
        lines.append("")
    if now["cost"]:
        lines += list(_prices(now["cost"], then["cost"] if then else {}))
    if then is not None:
        lines += list(_changes(now["plan"], then["plan"]))
    lines += list(_violations(now["violations"], then["violations"] if then else None))
    if now["accepted"]:
        lines += ["**Accepted by exception**", ""]
        lines += [
            f"- {code(item['policy'])} {_name(item['urn'])}: {literal(item['reason'])} ({literal(item['owner'])}, until"
            f" {literal(str(item['expires']))})"
            for item in now["accepted"]
        ]
        lines.append("")
    return lines


def _at(file: str, line: int | None) -> str:
    return "" if line is None else f" ({literal(file)}, line {line})"


def _finding(item: Mapping[str, Any]) -> str:
    tail = "; ".join(part for part in (item["allowed"], item["hint"]) if part)
    where = f"{code(item['name'])} " if item["name"] else ""
    path = f"{code(item['path'])}: " if item["path"] else ""
    return f"{where}{path}{literal(item['message'])}{f' ({literal(tail)})' if tail else ''}"


def _prices(now: Mapping[str, Any], then: Mapping[str, Any]) -> Iterator[str]:
    budget = f"{now['budget']:,.0f}" if now["budget"] else "none"
    yield "| USD a month | before | after | change |"
    yield "| --- | ---: | ---: | ---: |"
    for key in AMOUNTS:
        before = f"{then[key]:,.0f}" if then else "–"
        change = f"{now[key] - then[key]:+,.0f}" if then else "–"
        yield f"| {key} | {before} | {now[key]:,.0f} | {change} |"
    yield f"| budget | | {budget} | |"
    yield ""


def _changes(now: Mapping[str, Any], then: Mapping[str, Any]) -> Iterator[str]:
    new, old = dict(_flat(now)), dict(_flat(then))
    changed = [key for key in sorted({*new, *old}) if new.get(key) != old.get(key)]
    if not changed:
        yield "The plan does not change."
        yield ""
        return
    yield "| plan | before | after |"
    yield "| --- | --- | --- |"
    for key in changed[:MOST_CHANGES]:
        yield f"| {code(key)} | {_cell(old, key)} | {_cell(new, key)} |"
    yield ""
    if len(changed) > MOST_CHANGES:
        yield f"… and {len(changed) - MOST_CHANGES} more."
        yield ""


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Scalars by path; list entries that have a name go by it, so that a new one does not shift the others."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _IGNORED:
                yield from _flat(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            label = item["name"] if isinstance(item, Mapping) and "name" in item else index
            yield from _flat(item, f"{path}[{label}]")
    else:
        yield path, value


def _cell(values: Mapping[str, Any], key: str) -> str:
    return literal(str(values[key])) if key in values else "–"


def _violations(now: Sequence[Mapping[str, Any]], then: Sequence[Mapping[str, Any]] | None) -> Iterator[str]:
    old = {_key(violation) for violation in then or ()}
    new = {_key(violation) for violation in now}
    for violation in now:
        mark = "**new** " if then is not None and _key(violation) not in old else ""
        yield (
            f"- {mark}{violation['level']} {code(violation['policy'])} ({violation['severity']})"
            f" {_name(violation['urn'])}: {literal(violation['message'])}. {literal(violation['remediation'])}"
        )
    for violation in then or ():
        if _key(violation) not in new:
            yield f"- fixed: ~~{code(violation['policy'])} {_name(violation['urn'])}: {literal(violation['message'])}~~"
    yield ""


def _key(violation: Mapping[str, Any]) -> tuple[str, str, str]:
    return violation["policy"], violation["urn"], violation["message"]


def _name(urn: str) -> str:
    return code(urn.rsplit("::", 1)[-1]) if urn else "the stack"
