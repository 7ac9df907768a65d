"""Many stacks on all cores: each judged in one of a few processes, which send back text and keep nothing.

A worker has one stack at a time, so that one that is killed (for memory, by a person) fails that stack and no other,
and is replaced.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from trainyard.problems import in_one_line
from trainyard.rehearsal.engine.loop import rare_collections
from trainyard.rehearsal.engine.project import stack_of
from trainyard.rehearsal.engine.recorder import resources_forgotten
from trainyard.rehearsal.shape.once import judging_many
from trainyard.rehearsal.shape.words import likeness
from trainyard.review.beside import cores
from trainyard.review.processes import EndedError, Worker, started, way_to_start
from trainyard.review.review import failed
from trainyard.review.told import Asked, Told, tell, told

Judge = Callable[[Asked, Path, Mapping[str, Any] | None], Told]
"""What judges one stack and tells it."""

MOST_WORKERS: Final = 8
"""Processes at most: each takes about 200 MB and a core."""

STACKS_A_WORKER: Final = 2
"""At least so many: the first stack of a process takes it as long as three others."""

THRESHOLDS: Final = (1_900_000, 5, 20)
"""Thresholds of a worker's garbage collector: it collects after each stack, not within one (`rare_collections`)."""


def workers_for(stacks: int) -> int:
    """How many processes judge so many stacks; 1 is this one."""
    return max(1, min(cores(), MOST_WORKERS, stacks // STACKS_A_WORKER))


@contextmanager
def workers(number: int) -> Iterator[Sequence[Worker]]:
    """So many processes that judge, for as long as the block runs; none for one, which is this one.

    A spinner is to be begun within the block (`processes.started`).
    """
    if number <= 1:
        yield ()
        return
    if way_to_start() == "fork":
        import trainyard.rehearsal.judged  # each has it of this process, which itself judges nothing
        import trainyard.review.policy_check.check  # noqa: F401 - likewise
    with started(number, _begin) as found:
        yield found


def tell_all(
    asked: Asked,
    files: Sequence[Path],
    earlier: Mapping[Path, Mapping[str, Any]],
    *,
    among: Sequence[Worker] = (),
    judge_one: Judge = tell,
) -> Iterator[Told]:
    """What became of every stack, in the order of `files`. Without workers all happens in this process."""
    if among and len(files) > 1:
        yield from _in_order(among, asked, files, earlier, judge_one)
        return
    many = len(files) > 1
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        for file in files:
            yield _and_forget(judge_one, asked, file, earlier.get(file), many=many)
    finally:
        gc.set_threshold(*before)


def _in_order(
    pool: Sequence[Worker],
    asked: Asked,
    files: Sequence[Path],
    earlier: Mapping[Path, Mapping[str, Any]],
    judge_one: Judge,
) -> Iterator[Told]:
    running: dict[Worker, int] = {}  # the stack that each has
    done: dict[int, Told] = {}
    idle, next_told = list(pool), 0
    left = StacksLeft(files)
    while left or running:
        while left and idle:
            worker = idle.pop()
            stack = running[worker] = left.next_for(pool.index(worker))
            worker.do(_and_forget, judge_one, asked, files[stack], earlier.get(files[stack]), many=True)
        for worker in Worker.among(list(running)):
            stack = running.pop(worker)
            try:
                done[stack] = worker.result()
            except EndedError:
                reason = "the process that judged it was ended from outside, as a system short of memory does"
                done[stack] = told(asked, failed(asked.project, files[stack], reason))
                worker.begin_again()
            except Exception as error:  # what `judge_one` let through, such as an end of the program
                if asked.debug:
                    raise
                done[stack] = told(asked, failed(asked.project, files[stack], in_one_line(error)))
            idle.append(worker)
        while next_told in done:
            yield done.pop(next_told)
            next_told += 1


class StacksLeft:
    """The stacks that nobody has judged yet, each to be had by the worker that has judged others like it."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._left = list(range(len(files)))
        self._kind = [_likeness(file) for file in files]
        self._worker: dict[str, int] = {}

    def __bool__(self) -> bool:
        return bool(self._left)

    def next_for(self, worker: int) -> int:
        """The first that this worker knows the kind of, or nobody does; where there is none the first of another's,
        since stacks are told in their order."""
        fits = (stack for stack in self._left if self._worker.get(self._kind[stack], worker) == worker)
        stack = next(fits, self._left[0])
        self._left.remove(stack)
        self._worker.setdefault(self._kind[stack], worker)
        return stack


def _likeness(file: Path) -> str:
    try:
        return likeness(stack_of(file), file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # whoever judges it tells
        return ""


def _and_forget(judge_one: Judge, asked: Asked, file: Path, earlier: Mapping[str, Any] | None, *, many: bool) -> Told:
    """Judges one stack and frees what that took: what was there before is not looked at, which would take long."""
    with rare_collections(), resources_forgotten(), judging_many(many):
        return judge_one(asked, file, earlier)


def _begin() -> None:
    gc.set_threshold(*THRESHOLDS)
