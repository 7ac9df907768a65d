"""For ranks of tests, of which there are hundreds: torch without its compiler, and ranks that are forks of their agent.

Optimizers, DDP and the switch to deterministic algorithms import the compiler, to say that they want none of it or how
it would be; that takes more than a second of every process that trains, and decides nothing where nothing is compiled.
Whatever else is asked of it here is an error. To import the rest of torch takes as long again, which the agent has done
when it starts a rank (`forked_ranks.py`). Those of the check that reads shards, which asks the compiler, have it
(`WITH_COMPILER`). Runs of a whole level, the first of those that start by `trainyard smoke`, and plain torchrun have
torch and new processes as they are.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
from importlib.abc import Loader
from types import ModuleType, SimpleNamespace
from typing import Any

ABSENT = () if "WITH_COMPILER" in os.environ else ("torch._dynamo", "torch._inductor", "torch._inductor.config")
STARTS_RANKS = "torch.distributed.elastic.multiprocessing.subprocess_handler.subprocess_handler"
"""torchrun's module whose `Popen` starts each rank."""


class _Absent(Loader):
    """What is asked of a compiler by those who do not compile; its configuration takes any value."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: Any) -> None:
        if module.__name__ == "torch._dynamo":
            module.graph_break = lambda *_: None
            module.disable = lambda fn=None, recursive=True, **_: fn
            module.utils = SimpleNamespace(get_optimize_ddp_mode=lambda: "no_optimization")
            module.trace_rules = SimpleNamespace(clear_lru_cache=lambda: None)


class _StartsRanks(importlib.machinery.SourceFileLoader):
    """The module as it is, but that it forks."""

    def exec_module(self, module: Any) -> None:
        super().exec_module(module)
        from forked_ranks import ForkedRank  # beside this file

        module.Popen = ForkedRank


class _Finder:
    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name == STARTS_RANKS:
            found = importlib.machinery.PathFinder.find_spec(name, path)
            assert found is not None and found.origin is not None
            found.loader = _StartsRanks(name, found.origin)
            return found
        if name not in ABSENT:
            return None
        return importlib.machinery.ModuleSpec(name, _Absent(), is_package=name == "torch._inductor")


sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]  # a class with the one method that is asked
