"""Processes that do one thing at a time and send back what came of it: whatever ends one of them ends no other.

They are forked of this process where that is safe: they have then what it has imported, which would take each of them
two seconds, and what neither writes to is in memory once. Elsewhere they are started anew.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any, Final

from trainyard.review.beside import threads

_LAST_SECONDS: Final = 5
"""What a process may take to end once it has nothing left to do."""


class EndedError(Exception):
    """The process was ended from outside while it worked."""


class Worker:
    """One process, begun again where it was ended."""

    def __init__(self, begin: Callable[[], None], beside: Sequence[Worker] = ()) -> None:
        self._begin = begin
        self._beside = beside  # with this one, once all are there
        self._connection: Connection
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context(way := way_to_start())
        self._connection, theirs = context.Pipe()
        # What a fork inherits of the others it lets go of: else none of them would see that this process has ended.
        inherited = [self._connection, *(each._connection for each in self._beside if each is not self)]
        self._process: Any = context.Process(  # type: ignore[attr-defined]
            target=_work, args=(theirs, inherited if way == "fork" else [], self._begin)
        )
        with interrupts_held():
            self._process.start()
        theirs.close()

    def do(self, work: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        """Begins a piece of work, which is done when `among` gives this worker."""
        try:
            self._connection.send((work, arguments, options))
        except OSError:  # it was ended while it had nothing to do
            self.begin_again()
            self._connection.send((work, arguments, options))

    def result(self) -> Any:
        """What the work gave. Raises what it raised, and `EndedError` where the process is no more."""
        try:
            found, error = self._connection.recv()
        except (EOFError, OSError):
            raise EndedError from None
        if error is not None:
            raise error
        return found

    def begin_again(self) -> None:
        """A new process in the place of one that was ended, or that a program took the connection from."""
        self.close()
        self.end()
        self._start()

    def close(self) -> None:
        """Says that there is nothing left to do."""
        self._connection.close()

    def end(self, seconds: float = 0) -> None:
        """Ends the process, which may have so long to end by itself."""
        self._process.join(seconds)
        if self._process.is_alive():
            self._process.kill()  # a thread of a program that was given up still runs there
            self._process.join()

    @staticmethod
    def among(workers: Sequence[Worker]) -> list[Worker]:
        """Those that are done with their work, or were ended; waits until there is one."""
        done = wait([worker._connection for worker in workers])
        return [worker for worker in workers if worker._connection in done]


@contextmanager
def started(number: int, begin: Callable[[], None]) -> Iterator[list[Worker]]:
    """So many processes for as long as the block runs, each of which calls `begin` first.

    A spinner is to be begun after them: a process that draws one has two threads, and none is forked of it.
    """
    workers: list[Worker] = []
    try:
        for _ in range(number):
            workers.append(Worker(begin, workers))
        yield workers
        for worker in workers:
            worker.close()
        for worker in workers:
            worker.end(_LAST_SECONDS)  # their memory is free before all that was told is put together
    except BaseException:
        for worker in workers:
            worker.close()
            worker.end()  # it would finish its stack first, for nobody
        raise


def way_to_start() -> str:
    """`fork` on Linux where this process has one thread; what another thread holds would be held forever in a fork."""
    return "fork" if sys.platform == "linux" and threads() == 1 else "spawn"


def _work(asked: Connection, inherited: Sequence[Connection], begin: Callable[[], None]) -> None:
    for connection in inherited:
        connection.close()
    begin()
    while True:
        try:
            work, arguments, options = asked.recv()
        except (EOFError, OSError):  # there is nothing left, or nobody to do it for
            return
        try:
            answer: tuple[Any, Exception | None] = work(*arguments, **options), None
        except BaseException as error:  # one that ends a process ends its piece of work alone
            answer = None, _with_its_place(error if isinstance(error, Exception) else _in_words(error))
        try:
            asked.send(answer)
        except OSError:  # nobody waits for it
            return
        except Exception as error:  # it cannot be written down, of which nothing has been sent then
            asked.send((None, _with_its_place(_in_words(error))))


def _with_its_place(error: Exception) -> Exception:
    error.add_note(f"in another process:\n{traceback.format_exc()}")
    return error


def _in_words(error: BaseException) -> RuntimeError:
    return RuntimeError(f"{type(error).__name__}: {error}")


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
