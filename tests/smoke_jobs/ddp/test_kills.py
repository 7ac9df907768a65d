"""Twenty kills at random steps, ranks and phases: twenty exact resumes, none lost."""

from collections.abc import Callable
from typing import Any

import pytest

KILLS = 20


@pytest.mark.long
def test_twenty_kills_twenty_exact_resumes(smoke: Callable[..., Any]) -> None:
    ran = smoke(
        "--nproc-per-node", "2", "--kills", str(KILLS), "--timeout-s", "400", checks=("interruption",), timeout=420
    )
    check = ran.check("interruption")
    assert ran.code == 0, ran.output
    assert check["reason"].startswith(f"{KILLS} of {KILLS} kills and 1 of 1 notices resumed exactly")
    details = check["details"]
    assert len(details["kill_to_resumed_seconds"]) == KILLS
    # One attempt for each kill, one that the notice ended, and the last: each from a checkpoint, none from scratch.
    assert len(details["resumes"]) == KILLS + 2
    assert all(step > 0 for step in details["resumes"][1:])
    assert details["resumes"] == sorted(details["resumes"])
    kills = details["kills"]
    assert {kill["phase"] for kill in kills} == {"step", "save"} and {kill["rank"] for kill in kills} == {0, 1}
    # A kill inside a save leaves a half-written checkpoint, which the next attempt refuses with the reason.
    assert any("no manifest, so it was not finished" in text for text in details["refused"])
    # Every loss that was computed after a resume was compared; each attempt computes at least up to its kill.
    assert (
        details["losses_compared"]
        >= sum(k["step"] - r for k, r in zip(kills, details["resumes"], strict=False)) - KILLS
    )
