"""How the SDK's own machinery is run: in one thread, in order, and without garbage collection in between.

Measured on 500 resources (two cores, 2026-11): 4.7 ms a resource as it comes. Waiting for all outputs at once instead
of for the first of them, again and again, takes a third off; then the garbage collector. `light_sdk` does the rest.
"""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import Context
from typing import Any

from pulumi.runtime.settings import SETTINGS

from trainyard.rehearsal.engine import light_outputs


class InlineLoop(asyncio.SelectorEventLoop):
    """An event loop that makes the SDK's calls to the monitor at once instead of in threads: in order, and faster."""

    def __init__(self) -> None:
        super().__init__()
        # Outputs of a resource that failed keep its exception, which nobody fetches: it is reported once already, and
        # asyncio would format it whenever the garbage collector comes by.
        self.set_exception_handler(lambda _loop, _context: None)

    get_debug = staticmethod(bool)  # False, as ever, without a frame: each future asks

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> asyncio.Handle:  # type: ignore[override]
        """Does what the base class does, without its checks: it is called a hundred times a resource."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)  # type: ignore[attr-defined]
        return handle

    def run_in_executor(self, executor: Executor | None, func: Any, *arguments: Any) -> Any:  # type: ignore[override]
        """Runs `func` now, unless the program brings an executor of its own."""
        if executor is not None:
            return super().run_in_executor(executor, func, *arguments)
        future = self.create_future()
        try:
            future.set_result(func(*arguments))
        except Exception as error:  # handed to whoever awaits it, as a thread would
            future.set_exception(error)
        return future


async def settled() -> None:
    """Waits until no registration and no output is under way; leaves their exceptions to the SDK.

    The SDK's own wait takes up every pending output again whenever one is done, which is quadratic in their number.
    What was begun last is waited for first: the rest is mostly done by then.
    """
    while True:
        running = [task for task in (*SETTINGS.rpc_manager.rpcs, *SETTINGS.outputs) if not task.done()]
        if not running:
            light_outputs.forget_done()
            return
        for task in reversed(running):
            await light_outputs.is_done(task)


@contextmanager
def output_strings_raise() -> Iterator[None]:
    """Makes `f"{output}"` raise within the block, through the SDK's own switch."""
    name = "PULUMI_ERROR_OUTPUT_STRING"
    before = os.environ.get(name)
    os.environ[name] = "true"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


RARE = (2_000_000, 5, 20)
"""Thresholds of a garbage collector that a program of a few seconds never meets: 200 MiB of small objects."""

_blocks = 0
_outside = RARE
_collections = threading.Lock()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Makes garbage collection wait for the end of the block (the last one to end, where they nest or overlap).

    It then walks only what was made since the block began: the provider SDKs are most of a million objects that stay,
    and walking them costs as much as a run. A process whose own thresholds are `RARE` is left to end with its garbage.
    """
    global _blocks, _outside
    with _collections:
        _blocks += 1
        if _blocks == 1:
            _outside = gc.get_threshold()
            gc.freeze()
            gc.set_threshold(*RARE)
    try:
        yield
    finally:
        with _collections:
            _blocks -= 1
            if _blocks == 0:
                if _outside != RARE:
                    gc.collect()
                gc.unfreeze()
                gc.set_threshold(*_outside)
