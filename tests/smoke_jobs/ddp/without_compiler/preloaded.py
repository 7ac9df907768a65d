"""A process that has torch, and of which each wrapper that a test starts is a fork: none imports it anew.

Read from a socket: a request for each, with the three files of its input and output; written: its process id. The fork
is handed to whoever started this process (`tests/smoke_jobs/ddp/forked_wrappers.py`), which becomes its parent.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
import time

import forked_ranks  # beside this file
import numpy  # noqa: F401 - ranks use what stands here; what is left out is imported by each of them
import torch.distributed.checkpoint
import torch.distributed.elastic.multiprocessing.errors
import torch.distributed.run
import torch.distributed.tensor
import torch.nn.parallel
import torch.utils.data

if "WITH_COMPILER" in os.environ:
    import torch._dynamo  # noqa: F401


def serve(asked: socket.socket) -> None:
    """Forks a wrapper for each request, until nobody asks any more."""
    while True:
        message, files, _, _ = socket.recv_fds(asked, 1 << 20, 3)
        if not message:
            return
        request = json.loads(message)
        between = os.fork()
        if not between:
            try:
                of_between = os.getpid()
                wrapper = os.fork()
                if not wrapper:
                    while os.getppid() == of_between:
                        time.sleep(0.001)
                    forked_ranks.as_wrapper(request["command"], request["env"], request["folder"], files)
                asked.send(str(wrapper).encode())
            finally:
                os._exit(0)
        os.waitpid(between, 0)  # the wrapper is nobody's child now, and goes to the next of ours who takes such ones in
        for file in files:
            os.close(file)
        asked.send(b".")


if __name__ == "__main__":
    forked_ranks.all_is_imported()
    gc.collect()
    gc.freeze()  # forks share what is not looked at
    serve(socket.socket(fileno=int(sys.argv[1])))
