"""`make fuzz`: many random settings files through the planner, some through the whole rehearsal; the failing ones kept.

    python -m tests.fuzz.run --seed 1 --files 10000 --rehearsals 200

Exit 1 with the failing files, each cut to what makes it fail, in `out/fuzz/`; those of the last run are kept in
`out/fuzz-before/`. The same seed draws the same files.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.defaults import REGIONS, SIZES, default_case
from tests.fuzz.files import Case, Style, case, without
from tests.fuzz.judge import Outcome, planned, rehearsed, spotless
from tests.fuzz.shorten import shortened
from tests.shared import ROOT

OUT = ROOT / "out" / "fuzz"
MOST_ALIKE = 3
"""Failing files that are kept of one reason: a fault of everything needs no ten thousand."""

MOST_DRAWN = 60
"""Files that are drawn before a seed of rehearsals is given up."""
MOST_MENDED = 12
"""Times that a refused one is mended: a refusal names all that it sees, and sees more behind it."""

Judge = Callable[[Case, Path], Outcome]


@dataclass(frozen=True, slots=True)
class Result:
    """One file with what came of it."""

    case: Case
    outcome: Outcome


def plan_one(name: str) -> Result:
    """A random file of any style, planned."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = case(name)
        return Result(drawn, planned(drawn, Path(folder)))


def rehearse_one(name: str) -> Result:
    """The first file of a seed that the planner accepts, rehearsed; every fourth is wild.

    Of a file that is refused, what its author would take back is taken back: chance alone seldom writes a whole one.
    """
    style: Style = "wild" if int(name.rsplit(":", 1)[-1]) % 4 == 3 else "plausible"
    last = Outcome("refused")
    with tempfile.TemporaryDirectory() as folder:
        for attempt in range(MOST_DRAWN):
            drawn = case(f"{name}.{attempt}", style)
            for _ in range(MOST_MENDED):
                last = planned(drawn, Path(folder))
                if last.kind != "refused" or (mended := without(drawn, last.keys)) is None:
                    break
                drawn = mended
            if last.kind == "accepted":
                return Result(drawn, rehearsed(drawn, Path(folder)))
            if last.ours:
                return Result(drawn, last)
    return Result(
        drawn, Outcome("unsound", f"not one of {MOST_DRAWN} {style} files was accepted; the last: {last.why}")
    )


def default_one(place: tuple[str, int]) -> Result:
    """A file that leaves everything to the profile, rehearsed; advice counts too."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = default_case(*place)
        return Result(drawn, spotless(drawn, Path(folder)))


def told(title: str, results: Iterable[Result], count: int, judge: Judge) -> int:
    """Counts and prints as they come, keeps the failing ones; how many of these there were."""
    kinds: Counter[str] = Counter()
    styles: Counter[str] = Counter()
    alike: Counter[str] = Counter()
    started, shown = time.perf_counter(), 0.0
    for result in results:
        kinds[result.outcome.kind] += 1
        styles[f"{result.case.style} {result.outcome.kind}"] += 1
        if result.outcome.ours:
            reason = f"{result.outcome.kind} {result.outcome.why[:60]}"
            alike[reason] += 1
            if alike[reason] <= MOST_ALIKE:
                keep(result, judge)
        if (now := time.perf_counter()) - shown > 5:
            shown = now
            print(f"  {title}: {kinds.total()} of {count}, {_counts(kinds)}", flush=True)
    seconds = time.perf_counter() - started
    print(f"{title}: {kinds.total()} in {seconds:.0f} s: {_counts(kinds)} ({_counts(styles)})", flush=True)
    return kinds["unsound"] + kinds["traceback"]


def _counts(found: Counter[str]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in sorted(found.items()))


def keep(result: Result, judge: Judge) -> None:
    """Writes a failing file, shortened, with the reason on top."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        small, outcome = shortened(result.case, result.outcome, lambda drawn: judge(drawn, Path(folder)))
    reason = "\n".join(f"# {line}" for line in outcome.why.splitlines())
    name = "".join(letter if letter.isalnum() else "-" for letter in result.case.name)
    path = OUT / f"{outcome.kind}-{name}.yaml"
    written = f"# seed {result.case.name}\n{reason}\n{small.text}"
    path.write_bytes(written.encode("utf-8", "surrogatepass"))
    print(f"  {outcome.kind}: {outcome.why[:300]}\n    {path.relative_to(ROOT)}", flush=True)


def set_aside() -> None:
    """Keeps what the last run found beside this one's; what the run before that found goes."""
    if OUT.exists() and any(OUT.iterdir()):
        before = OUT.with_name(f"{OUT.name}-before")
        shutil.rmtree(before, ignore_errors=True)
        OUT.rename(before)


def main(arguments: list[str] | None = None) -> int:
    """Runs all three parts; 1 where one of them found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="1", help="the same seed draws the same files")
    parser.add_argument("--files", type=int, default=10_000, help="settings files to plan")
    parser.add_argument(
        "--rehearsals", type=int, default=200, help="accepted ones to rehearse, with policies and price"
    )
    parser.add_argument("--defaults", type=int, default=len(REGIONS) * len(SIZES), help="profile defaults to rehearse")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    given = parser.parse_args(arguments)
    set_aside()
    places = [(region, size) for size in SIZES for region in REGIONS][: given.defaults]
    parts: list[tuple[str, Callable[..., Result], list[object], Judge]] = [
        ("settings files", plan_one, [f"{given.seed}:{index}" for index in range(given.files)], planned),
        ("profile defaults", default_one, list(places), spotless),
        ("rehearsals", rehearse_one, [f"{given.seed}:r:{index}" for index in range(given.rehearsals)], rehearsed),
    ]
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        failed = sum(
            told(title, pool.imap_unordered(work, names, chunksize=8 if judge is planned else 1), len(names), judge)
            for title, work, names, judge in parts
            if names
        )
    print(f"{failed} of ours, in {OUT.relative_to(ROOT)}/" if failed else "nothing of ours")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
