"""What `--from` says of one-line changes of the example stacks (`matrix*.yaml`): a short block each.

`python -m tests.rehearsal.change.matrix [STACK...]` writes the golden texts; `make matrix` compares all of them.
"""

from __future__ import annotations

import copy
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import yaml

from tests.conftest import EXAMPLES, MANAGED, MANAGED_ON_GOOGLE, ON_GOOGLE
from tests.remembered import unjudged
from tests.shared import ROOT
from trainyard import cards
from trainyard.plan.lock import lock_path, lock_text, read_lock
from trainyard.plan.relock import relocked
from trainyard.problems import SettingsError
from trainyard.rehearsal.change.data import LEFT_BEHIND, LOSES_DATA, PROTECTED
from trainyard.rehearsal.change.earlier import Earlier
from trainyard.rehearsal.change.model import Operation, Step, without_indices
from trainyard.rehearsal.engine.project import read_stack
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.change.review import ChangeReview, review_change

GOLDEN = ROOT / "tests" / "golden" / "change"
_NOT_SETTINGS = ("only", "not", "relock")
_MOST = 4

Edit = Mapping[str, Any]


def edits(stack: str) -> dict[str, Edit]:
    """The changes of one stack, by their names: those of its kind, and what that takes from the others' by name."""
    managed = "_managed" if stack in MANAGED + MANAGED_ON_GOOGLE else ""
    kind = f"{managed}_gcp" if stack in ON_GOOGLE else managed
    own = dict(_list(kind))
    shared = {name: _list("")[name] for name in own.pop("shared", ())}
    ours = {
        name: edit
        for name, edit in own.items()
        if stack in edit.get("only", (stack,)) and stack not in edit.get("not", ())
    }
    return shared | ours


@cache
def _list(kind: str) -> Mapping[str, Any]:
    content: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name(f"matrix{kind}.yaml").read_text("utf-8"))
    return content


def golden(stack: str) -> dict[str, str]:
    """What the changes of a stack said when the golden text was written."""
    file = GOLDEN / f"{stack}.txt"
    blocks = file.read_text(encoding="utf-8").split("\n## ")[1:] if file.is_file() else []
    return {block.split("\n", 1)[0]: block.split("\n", 1)[1].strip() for block in blocks}


def said(stack: str, edit: Edit, before: Rehearsal, folder: Path) -> str:
    """What `--from` says of one change. Whether the program is sound is judged elsewhere, and takes as long again."""
    with unjudged():
        try:
            after = rehearse(ROOT, _stack_file(stack, edit, folder))
        except SettingsError as error:
            return "\n".join(f"refused {problem.key}: {problem.allowed}" for problem in error.problems)
    for run in (after.preview, after.known):
        if run.error is not None:
            raise run.error
    found = review_change(Earlier("before", tuple(before.known.resources)), after)
    silent = lost_in_silence(found)
    assert not silent, f"go with what they hold, and nothing says so: {silent}"
    return _told(found)


def lost_in_silence(found: ChangeReview) -> list[str]:
    """What holds data by its type's card and would go, without a finding that names it."""
    named = {finding.name for finding in found.findings if finding.rule in (PROTECTED, LOSES_DATA, LEFT_BEHIND)}
    gone = [step for step in found.steps if step.goes and step.was is not None]
    return [step.was.name for step in gone if cards.of(step.was.type).stateful and step.was.name not in named]


def _told(found: ChangeReview) -> str:
    if found.nothing:
        return "nothing changes"
    counts = found.counts
    summary = ", ".join(f"{counts[done]} {done}" for done in ("made", "changed", "replaced", "deleted") if counts[done])
    lines = [summary]
    rules: dict[tuple[str, str], list[str]] = {}
    for finding in found.findings:
        rules.setdefault((finding.level, finding.rule), []).append(finding.name)
    lines += [f"{level} {rule}: {_several(names)}" for (level, rule), names in rules.items()]
    lines += [f"interrupts {what}: {happens}" for what, happens, _ in found.interrupted]
    lines += _done("replaced", found, Operation.REPLACE)
    lines += _done("deleted", found, Operation.DELETE)
    lines += _done("made", found, Operation.CREATE)
    lines += _done("changed", found, Operation.UPDATE)
    return "\n".join(lines)


def _done(word: str, found: ChangeReview, operation: Operation) -> Iterator[str]:
    counted: Counter[tuple[str, str]] = Counter()
    for step in found.steps:
        if step.operation is operation:
            counted[step.type.rsplit(":", 1)[1], _inputs(step)] += 1
    told = [f"{number} {type_}{inputs}" for (type_, inputs), number in sorted(counted.items())]
    if told:
        yield f"{word} {_several(told, most=12)}"


def _inputs(step: Step) -> str:
    """The inputs that a step is about, those of a list or a map of texts once."""
    if step.operation in (Operation.CREATE, Operation.DELETE):
        return ""
    paths = step.forced_by or tuple(found.path for found in step.differences)
    if step.operation is Operation.REPLACE and not step.forced_by:
        return " (goes along)"
    firsts = dict.fromkeys(
        re.sub(r"^(tagsAll|tags|data|stringData)\..*", r"\1", without_indices(path)) for path in paths
    )
    return f" ({_several(list(firsts), most=3)})"


def _several(names: Sequence[str], most: int = _MOST) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _stack_file(stack: str, edit: Edit, folder: Path) -> Path:
    """The stack's file with the change, beside its lock."""
    example = ROOT / "stacks" / f"Pulumi.{stack}.yaml"
    content = yaml.safe_load(example.read_text(encoding="utf-8"))
    settings = {key.removeprefix("trainyard:"): value for key, value in content["config"].items()}
    for path, value in edit.items():
        if path not in _NOT_SETTINGS:
            _put(settings, path, copy.deepcopy(value))
    config = {key if ":" in key else f"trainyard:{key}": value for key, value in settings.items() if value is not None}
    file = folder / example.name
    file.write_text(yaml.safe_dump({"config": config}, sort_keys=False), encoding="utf-8")
    lock = lock_path(file)
    lock.write_text(lock_path(example).read_text(encoding="utf-8"), encoding="utf-8")
    if "relock" in edit:
        known = read_lock(lock)
        assert known is not None
        lock.write_text(lock_text(relocked(read_stack(ROOT, file), known, edit["relock"]), stack), encoding="utf-8")
    return file


def _put(settings: Any, path: str, value: Any) -> None:
    *above, last = re.findall(r"\[[+-]?\d*\]|[^.\[\]]+", path)
    target = settings
    for part, after in zip(above, [*above, last][1:], strict=True):
        if part.startswith("["):
            target = target[int(part[1:-1])]
        else:
            target = target.setdefault(part, [] if after.startswith("[") else {})
    if last == "[+]":
        target.append(value)
    elif last.startswith("["):
        del target[int(last[1:-1])]
    elif value is None:
        target.pop(last, None)
    elif isinstance(value, str) and re.fullmatch(r"[+-]\d+", value):
        target[last] += int(value)
    else:
        target[last] = value


def write(stack: str) -> None:
    """Writes the golden text of a stack, on all cores."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        blocks = list(pool.map(_block, repeat(stack), edits(stack), chunksize=4))
    GOLDEN.mkdir(exist_ok=True)
    head = f"What `trainyard rehearse {stack} --from` says of one-line changes (tests/rehearsal/change/matrix*.yaml)."
    (GOLDEN / f"{stack}.txt").write_text("\n".join([head, "", *blocks]), encoding="utf-8")


@cache
def _example(stack: str) -> Rehearsal:
    return rehearse(ROOT, stack)


def _block(stack: str, name: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return f"## {name}\n{said(stack, edits(stack)[name], _example(stack), Path(folder))}\n"


if __name__ == "__main__":
    for each in sys.argv[1:] or EXAMPLES:
        write(each)
