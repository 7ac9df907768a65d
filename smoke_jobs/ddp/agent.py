"""torchrun on this node, which besides says how each rank ended.

torchrun's own exit code is 1 whatever the ranks returned, and a rank that was killed cannot say so itself.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from torch.distributed.elastic.multiprocessing import SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.run import main as torchrun

from .result import write_json
from .supervise import TOLD_BY

AGENT = "agent"
"""First argument of a process that is one."""


def main(argv: Sequence[str]) -> int:
    """Runs torchrun; `argv` is the word `agent`, a file (or an empty text), and the arguments of torchrun.

    The file lists the ranks that failed, the first first: [{rank, pid, exit_code, at}]; `exit_code` is that of the
    process, negative for a signal, and `at` in seconds since the epoch. Those that torchrun stopped because of these
    come after them.
    """
    _, file, *arguments = argv
    try:
        torchrun(arguments)
    except ChildFailedError as error:
        print(error, file=sys.stderr, flush=True)
        if file:
            ended = [
                {"rank": rank, "pid": failure.pid, "exit_code": failure.exitcode, "at": failure.timestamp}
                for rank, failure in error.failures.items()
            ]
            write_json(Path(file), ended)
        return 1
    except SignalException as told:  # the wrapper did, and says why; a traceback says nothing more
        print(f"smoke: torchrun was told to stop ({told.sigval.name})", file=sys.stderr, flush=True)
        return 128 + told.sigval
    finally:
        # torchrun's handlers raise: a signal that comes while this process ends would leave a traceback, and no more.
        for number in TOLD_BY:
            signal.signal(number, signal.SIG_IGN)
    return 0
