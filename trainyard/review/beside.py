"""A second thing done at the same time: in a process forked from this one, which sends back what came of it.

It has what this process had when it was forked, and is told the rest. Only where that is sure to be the same as doing
it here (`docs/decisions/0100-half-of-the-judging-is-done-beside.md`, `0103-who-judges-is-there-before-the-program.md`).
Where it is not, or the process ends before its answer is whole, the caller does it here: whatever is wrong then shows
here, with its traceback.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, NoReturn

SWITCH: Final = "TRAINYARD_ONE_PROCESS"
"""An environment variable: with any text in it everything is done in one process."""

_THREADS: Final = Path("/proc/self/task")
"""Where Linux lists the threads of a process, those of libraries too."""

OF_A_SPINNER: Final = "rich.live"
"""Whose thread turns a spinner on a terminal: it holds no lock but the terminal's, which is opened anew."""

Take = Callable[[], int | None]
"""Gives the number of the next piece of what is left that neither process has begun, to do it; None where none is."""

_WIDE: Final = 1 << 20
"""What Linux lets anybody's pipe hold; it begins with a sixteenth."""


class Told:
    """Gives the other process the next thing that it is told, once it is; `EOFError` where nobody tells any more."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._hearing = open(pipe, "rb", closefd=False)  # noqa: SIM115 - as long as the process

    def __call__(self) -> Any:
        """Waits until the whole of it is there."""
        return _Hearing(self._hearing).load()

    def comes(self) -> bool:
        """Whether there is something to hear, or nobody who tells any more. What follows what was just heard is not
        seen where both were told in one breath."""
        return bool(select.select([self._pipe], [], [], 0)[0])


def _nothing(_: Take) -> None:
    """What is left where there is one thing to do."""


def cores() -> int:
    """On how many cores this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int | None:
    """How many threads this process has, those of libraries too; None where they are not listed."""
    try:
        return sum(1 for _ in _THREADS.iterdir())
    except OSError:
        return None


def can_do_two() -> bool:
    """Whether a second process would be of use, and a fork of this one is sure to work.

    A fork copies the thread that asks for it and no other: a lock that another one holds would never be given back.
    Where threads are not listed (macOS, Windows), the libraries of the system need not bear a fork at all.
    """
    spinners = sum(type(thread).__module__ == OF_A_SPINNER for thread in threading.enumerate())
    return threads() == 1 + spinners and cores() > 1 and not os.environ.get(SWITCH)


def _widen(pipe: int) -> None:
    """Lets a pipe hold some of what it is told: nobody waits then for who is still importing, or practising."""
    with suppress(ImportError, AttributeError, OSError):  # not Linux, or others of this user have taken their share
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _WIDE)


class Beside:
    """At most one thing that is done in another process while the block runs. The process ends with the block."""

    def __init__(self) -> None:
        self._process: int | None = None
        self._sent = self._pieces = -1  # where the answer, and the numbers of what is left, are read
        self._telling: BinaryIO | None = None
        self._answer: tuple[Any, Any] | None = None
        self._ending = threading.Lock()  # what it is told, a program's thread tells; a Ctrl-C ends it in the first

    @property
    def runs(self) -> bool:
        """Whether there is a process that may have an answer yet."""
        return self._process is not None

    def __enter__(self) -> Beside:
        """Nothing is begun yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Ends what nobody waits for any more."""
        self._end()

    def begin(self, work: Callable[[Told], Any], left: Callable[[Take], Any] = _nothing, pieces: int = 0) -> bool:
        """Begins `work`, and after it `left`; whether it could be begun.

        Args:
            work: is done by the other process, from what it is told.
            left: the other's share of what both do. It asks for one piece after the other, as this one does (`take`).
            pieces: how many there are, 255 at most.
        """
        if self._process is not None or not can_do_two():
            return False
        closed: list[int] = []  # the ends of pipes that this process has no use for any more
        held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # a Ctrl-C finds both as they are to be
        try:
            for _ in range(3):
                closed += os.pipe()
            self._sent, sending, self._pieces, numbers, hearing, telling = closed
            _widen(telling)
            os.write(numbers, bytes(range(pieces)))
            process = os.fork()
            if process == 0:
                for end in (self._sent, numbers, telling):  # else it would wait for itself where its parent is killed
                    os.close(end)
                _work(work, left, self._pieces, sending, hearing, held)
            self._process = process
            self._telling = os.fdopen(telling, "wb")
            closed = [sending, numbers, hearing]  # whoever reads after the last number finds the end
        except OSError:  # there may be no more processes or files: it is done here
            return False
        finally:
            for end in closed:
                os.close(end)
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        return True

    def tell(self, what: Any) -> None:
        """Tells the other process something. What cannot be sent ends it, without an answer."""
        if self._telling is None:
            return
        try:
            pickle.dump(what, self._telling, pickle.HIGHEST_PROTOCOL)
            self._telling.flush()
        except Exception:  # it has ended, or there is something that cannot be written down
            self._end()

    def take(self) -> int | None:
        """The number of the next piece of what is left that neither process has begun, which is this one's to do; None
        where none is, or the process has ended."""
        return _next(self._pieces) if self._process is not None else None

    def answer(self) -> Any | None:
        """What came of the work, once it has; None where it was not begun, or did not come to an end."""
        return self._both()[0]

    def found(self) -> Any | None:
        """What came of its share of what was left; None where that or the work did not come to an end."""
        return self._both()[1]

    def _both(self) -> tuple[Any, Any]:
        if self._process is not None:
            self._tell_no_more()
            with open(self._sent, "rb", closefd=False) as pipe:
                sent = pipe.read()
            self._answer = pickle.loads(sent) if self._ended() else None  # noqa: S301 - what this very program wrote
        return self._answer or (None, None)

    def _end(self) -> None:
        process = self._process
        if process is not None:
            with suppress(ProcessLookupError):  # it has ended, and nobody keeps the ends of its like
                os.kill(process, signal.SIGKILL)
            self._ended()

    def _ended(self) -> bool:
        """Waits for the process; whether it did all that it was to do."""
        with self._ending:
            process, self._process = self._process, None
        if process is None:
            return False
        self._tell_no_more()
        os.close(self._sent)
        os.close(self._pieces)
        status = None
        with suppress(ChildProcessError):  # whoever started this process had it ignore the end of its children
            _, status = os.waitpid(process, 0)
        return status == 0

    def _tell_no_more(self) -> None:
        telling, self._telling = self._telling, None
        if telling is not None:
            with suppress(OSError):  # what it did not hear any more
                telling.close()


class _Hearing(pickle.Unpickler):
    """Reads what this process is told: of classes that are there. Nothing is imported, which might run something."""

    def find_class(self, module: str, name: str) -> Any:
        """The class of that name; `UnpicklingError` where its module is not there."""
        if module not in sys.modules:
            raise pickle.UnpicklingError(f"{module} is not there")
        return super().find_class(module, name)


def _next(pieces: int) -> int | None:
    """The next number of a pipe of them, which nobody else gets then; None at its end."""
    number = os.read(pieces, 1)
    return number[0] if number else None


def _work(
    work: Callable[[Told], Any], left: Callable[[Take], Any], pieces: int, sending: int, hearing: int, mask: Any
) -> NoReturn:
    """The other process's whole life. It flushes nothing that its parent has written, and tells of no failure."""
    done = False
    try:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # quietly; its parent tells
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        # What it writes goes where it went, without a lock that the spinner's thread may hold; line by line, since
        # nothing is flushed at its end.
        sys.stdout = open(1, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115 - as long as
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115 - the process
        gc.disable()  # it ends soon, and pages that nobody writes to are shared
        answer = work(Told(hearing))
        rest = left(lambda: _next(pieces))
        sent = pickle.dumps((answer, rest), pickle.HIGHEST_PROTOCOL)
        with open(sending, "wb", closefd=False) as pipe:
            pipe.write(sent)
        done = True
    finally:
        os._exit(0 if done else 1)
