"""Many stacks on all cores: each judged in one of a few processes, which send back text and keep nothing.

A worker has one stack at a time, so that one that is killed (for memory, by a person) fails that stack and no other,
and is replaced.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from trainyard.rehearsal.engine.loop import rare_collections
from trainyard.rehearsal.engine.project import stack_of
from trainyard.rehearsal.engine.recorder import resources_forgotten
from trainyard.rehearsal.shape.once import judging_many
from trainyard.rehearsal.shape.words import likeness
from trainyard.review.beside import cores
from trainyard.review.review import failed
from trainyard.review.told import Asked, Told, tell, told

Judge = Callable[[Asked, Path, Mapping[str, Any] | None], Told]
"""What judges one stack and tells it."""

MOST_WORKERS: Final = 8
"""Processes at most: each takes about 200 MB and a core."""

STACKS_A_WORKER: Final = 2
"""At least so many: a process takes two seconds to import what a rehearsal needs, as long as two stacks take then."""

_LAST_SECONDS: Final = 5
"""What a worker may take to end once it has nothing left to do."""

THRESHOLDS: Final = (1_900_000, 5, 20)
"""Thresholds of a worker's garbage collector: it collects after each stack, not within one (`rare_collections`)."""


def workers_for(stacks: int) -> int:
    """How many processes judge so many stacks; 1 is this one."""
    return max(1, min(cores(), MOST_WORKERS, stacks // STACKS_A_WORKER))


def tell_all(
    asked: Asked,
    files: Sequence[Path],
    earlier: Mapping[Path, Mapping[str, Any]],
    *,
    workers: int,
    judge_one: Judge = tell,
) -> Iterator[Told]:
    """What became of every stack, in the order of `files`. With one worker all happens in this process."""
    many = len(files) > 1
    if workers <= 1:
        before = gc.get_threshold()
        gc.set_threshold(*THRESHOLDS)
        try:
            for file in files:
                yield _and_forget(judge_one, asked, file, earlier.get(file), many=many)
        finally:
            gc.set_threshold(*before)
        return
    before_us = set(multiprocessing.active_children())
    pool = [_executor() for _ in range(workers)]
    try:
        yield from _in_order(pool, asked, files, earlier, judge_one)
        for executor in pool:
            executor.shutdown(wait=False)
        for process in set(multiprocessing.active_children()) - before_us:
            process.join(_LAST_SECONDS)  # their memory is free before all that was told is put together
            if process.is_alive():
                process.terminate()  # a thread of a program that was given up still runs there
    except BaseException:
        for process in set(multiprocessing.active_children()) - before_us:
            process.terminate()  # it would finish its stack first, for nobody
        raise
    finally:
        for executor in pool:
            executor.shutdown(wait=False, cancel_futures=True)


def _in_order(
    pool: list[ProcessPoolExecutor],
    asked: Asked,
    files: Sequence[Path],
    earlier: Mapping[Path, Mapping[str, Any]],
    judge_one: Judge,
) -> Iterator[Told]:
    running: dict[Future[Told], tuple[int, int]] = {}  # the stack and the worker
    done: dict[int, Told] = {}
    idle, next_told = list(range(len(pool))), 0
    left = StacksLeft(files)
    while left or running:
        while left and idle:
            worker = idle.pop()
            stack = left.next_for(worker)
            with interrupts_held():  # a worker starts with the first of its stacks
                future = pool[worker].submit(
                    _and_forget, judge_one, asked, files[stack], earlier.get(files[stack]), many=True
                )
            running[future] = (stack, worker)
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            stack, worker = running.pop(future)
            try:
                done[stack] = future.result()
            except BrokenProcessPool:
                reason = "the process that judged it was ended from outside, as a system short of memory does"
                done[stack] = told(asked, failed(asked.project, files[stack], reason))
                pool[worker].shutdown(wait=False)
                pool[worker] = _executor()
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


def _executor() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)


def _begin() -> None:
    gc.set_threshold(*THRESHOLDS)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Makes processes that are started in the block deaf to Ctrl-C: the command that started them ends them.

    A Ctrl-C meanwhile is the command's own, and ends it when the block is left. A signal that is blocked stays so in a
    process that is started; one that is ignored would be lost for this process too.
    """
    here = threading.current_thread() is threading.main_thread() and hasattr(signal, "pthread_sigmask")
    if not here or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # ignored, as below `nohup`: they inherit it
        yield
        return
    held: list[int] = []  # what reaches another thread of this process is not blocked
    handler = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if held:
        raise KeyboardInterrupt
