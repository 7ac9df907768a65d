"""A check beside an earlier one, as Markdown for a pull request: what changes in plan, price and violations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.review.formats.document import stack_json
from trainyard.review.review import Review

MARKER = "<!-- trainyard check -->"
"""First line of a comment, by which a pipeline finds and replaces its earlier one."""
MOST_CHANGES = 40
AMOUNTS = ("floor", "expected", "ceiling")
_IGNORED = ("decisions",)  # says in prose what the other keys say in figures


def as_markdown(reviews: Sequence[Review], before: Mapping[str, Any] | None = None) -> str:
    """All stacks as one comment. `before`: the JSON document of an earlier check; without it nothing is compared."""
    earlier = {stack["stack"]: stack for stack in (before or {}).get("stacks", [])}
    lines = [MARKER, "## Trainyard check", ""]
    for review in reviews:
        lines += _stack(stack_json(review), earlier.get(review.stack), compared=before is not None)
    if before is not None:
        names = {review.stack for review in reviews}
        lines += [f"### {name}\n\nRemoved.\n" for name in earlier if name not in names]
    return "\n".join(lines).rstrip() + "\n"


def _stack(now: Mapping[str, Any], then: Mapping[str, Any] | None, *, compared: bool) -> list[str]:
    mandatory = sum(violation["level"] == "mandatory" for violation in now["violations"])
    advisory = len(now["violations"]) - mandatory
    verdict = f"❌ {mandatory} mandatory" if mandatory else "✅ no mandatory"
    lines = [f"### {now['stack']}: {verdict} and {advisory} advisory violations", ""]
    if compared and then is None:
        lines += ["New stack.", ""]
    lines += list(_prices(now["cost"], then["cost"] if then else {}))
    if then is not None:
        lines += list(_changes(now["plan"], then["plan"]))
    lines += list(_violations(now["violations"], then["violations"] if then else None))
    if now["accepted"]:
        lines += ["**Accepted by exception**", ""]
        lines += [
            f"- `{item['policy']}` {_name(item['urn'])}: {item['reason']} ({item['owner']}, until {item['expires']})"
            for item in now["accepted"]
        ]
        lines.append("")
    return lines


def _prices(now: Mapping[str, Any], then: Mapping[str, Any]) -> Iterator[str]:
    yield "| USD a month | before | after | change |"
    yield "| --- | ---: | ---: | ---: |"
    for key in AMOUNTS:
        before = f"{then[key]:,.0f}" if then else "–"
        change = f"{now[key] - then[key]:+,.0f}" if then else "–"
        yield f"| {key} | {before} | {now[key]:,.0f} | {change} |"
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
        yield f"| `{key}` | {_cell(old, key)} | {_cell(new, key)} |"
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
    return str(values[key]).replace("|", "\\|") if key in values else "–"


def _violations(now: Sequence[Mapping[str, Any]], then: Sequence[Mapping[str, Any]] | None) -> Iterator[str]:
    old = {_key(violation) for violation in then or ()}
    new = {_key(violation) for violation in now}
    for violation in now:
        mark = "**new** " if then is not None and _key(violation) not in old else ""
        yield (
            f"- {mark}{violation['level']} `{violation['policy']}` ({violation['severity']})"
            f" {_name(violation['urn'])}: {violation['message']}. {violation['remediation']}"
        )
    for violation in then or ():
        if _key(violation) not in new:
            yield f"- fixed: ~~`{violation['policy']}` {_name(violation['urn'])}: {violation['message']}~~"
    yield ""


def _key(violation: Mapping[str, Any]) -> tuple[str, str, str]:
    return violation["policy"], violation["urn"], violation["message"]


def _name(urn: str) -> str:
    return f"`{urn.rsplit('::', 1)[-1]}`" if urn else "the stack"
