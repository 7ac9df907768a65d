"""How the ranks of this node ended, from their own files and from what torchrun saw of their processes.

Every rank says when it starts, when it catches or raises something, and when it is told to stop (`worker.py`); torchrun
says which process ended first, and with what (`agent.py`); a rank that lives says who is silent (`pulse.py`). One
cause of several effects is told: who only saw a connection close is left out where another knows why.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SILENT = "silent.json"
"""{check, ranks: [{rank, host, message}]} (`pulse.py`), in the result folder of a node whose ranks live."""

FAILURES = "failures.json"
"""What torchrun says of the ranks that failed (`agent.py`), in the result folder."""

_TOGETHER_S = 1.0
"""Ranks that end within so many seconds of the first one did not end because torchrun stopped them: a rank that hears
the signal says so, and one that does not is killed later."""

_SIGNALS: dict[int, str] = {
    signal.SIGKILL: "look for the out-of-memory killer in dmesg or the pod's last state, and for Xid errors of its GPU",
    signal.SIGTERM: "something outside of the job told it to stop: a node that is drained stops its whole pod, so look "
    "for who signals single processes",
    signal.SIGSEGV: "a library or the driver read where it may not: look at its log, and for Xid errors of its GPU",
    signal.SIGABRT: "a library gave up: NCCL's watchdog or CUDA say why in its log",
    signal.SIGBUS: "a file that was mapped into memory went away, or /dev/shm is full: look at its size",
}

_SECOND_HAND = (
    "closed by peer", "connection reset", "connection refused", "broken pipe", "remote process exited", "timed out",
    "timeout", "connection was likely closed", "failed to recv",
)  # fmt: skip


def errors_of(folder: Path, stopped: bool = False) -> list[dict[str, Any]]:
    """[{rank, host, message}] of what went wrong on this node, by rank.

    Args:
        folder: the result folder.
        stopped: whether the wrapper stopped the ranks, so that none of them died by itself.
    """
    silent = _read(folder / SILENT)
    marks = {mark["rank"]: mark for path in sorted((folder / "ranks").glob("rank-*.json")) if (mark := _read(path))}
    if silent:
        caught = {rank: mark["message"] for rank, mark in marks.items() if mark["state"] == "caught"}
        return [
            entry | {"message": after(entry["message"], caught.get(entry["rank"], ""))} for entry in silent["ranks"]
        ]
    failures = _read(folder / FAILURES)
    ended = {} if stopped else _of_themselves(failures or [])
    errors = {
        rank: mark["message"]
        for rank, mark in marks.items()
        if mark["state"] in ("caught", "raised") and mark["message"]
    }
    errors |= {
        rank: _said(failure, marks.get(rank, {}))
        for rank, failure in ended.items()
        if rank not in errors or _signal(failure["exit_code"])
    }
    if failures is None and not stopped:  # torchrun did not live to say more
        text = "process {pid} died without a trace; look for the out-of-memory killer in dmesg or the pod's last state"
        errors |= {rank: text.format(**mark) for rank, mark in marks.items() if mark["state"] == "started"}
    found = [
        {"rank": rank, "host": marks.get(rank, {}).get("host", ""), "message": message}
        for rank, message in sorted(errors.items())
    ]
    return first_hand(found)


def first_hand(errors: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without those that only say that another was gone, unless all do; each rank once, by who says most."""
    most: dict[tuple[int, str], dict[str, Any]] = {}
    for error in errors:
        key = (error["rank"], "" if error["rank"] >= 0 else error["message"])
        if key not in most or len(error["message"]) > len(most[key]["message"]):
            most[key] = error
    errors = list(most.values())
    return [error for error in errors if not second_hand(error["message"])] or list(errors)


def second_hand(message: str) -> bool:
    """Whether somebody only saw that another was gone, or did not come."""
    return any(text in message.lower() for text in _SECOND_HAND)


def after(message: str, met: str) -> str:
    """What ended a rank, with what it had met before that: an abort of a lost device says less than its loss did."""
    if not met or second_hand(met):
        return message
    return met if second_hand(message) else f"{message} after it had met: {met}"


def _of_themselves(failures: Sequence[Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
    """The first rank that failed, and those that did with it."""
    return {
        failure["rank"]: failure
        for number, failure in enumerate(failures)
        if number == 0
        or (failure["at"] - failures[0]["at"] <= _TOGETHER_S and _signal(failure["exit_code"]) != signal.SIGTERM)
    }


def _signal(code: int) -> int:
    """The signal that ended a process, by its exit code; 0 where none did. A rank that hears SIGTERM ends with 143."""
    return -code if code < 0 else code - 128 if code == 128 + signal.SIGTERM else 0


def _said(failure: Mapping[str, Any], mark: Mapping[str, Any]) -> str:
    number = _signal(failure["exit_code"])
    if not number:
        return f"process {failure['pid']} ended with exit code {failure['exit_code']} and left no word; see its log"
    before = f" after it had met: {mark['message']}" if mark.get("message") else ""
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    return f"process {failure['pid']} was ended by {name}{before}; " + _SIGNALS.get(number, "see its log and dmesg")


def _read(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None
