"""`trainyard recommend`: what size a training needs, what it costs, and whether to own the hardware."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainyard.cli.files import clash
from trainyard.cli.option_groups import grouped
from trainyard.cli.project import (
    ProjectOption,
    fail_options,
    fail_settings,
    file_option,
    find_project,
    find_stack,
)
from trainyard.cli.training_options import (
    HARDWARE,
    OUTPUT,
    CloudOptions,
    TrainingOptions,
    fail_with,
    option,
    read_request,
)
from trainyard.problems import Problem, SettingsError

if TYPE_CHECKING:
    from trainyard.advice import Comparison, Recommendation

EXIT_NONE = 1
"""Exit code where nothing can be recommended: nothing fits, is in time or in the budget, or no formula covers it."""
LIMITS, COMPARISON, APPLYING = "By when, for how much", "Managed, own cluster or owned", "Into a stack"
"""Panels of `--help`."""


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """Options that limit a recommendation: by when, how often, and for how much."""

    deadline: Annotated[str | None, option("--deadline", "12h, 30d, 2w; 30 days by default.", LIMITS, "TIME")] = None
    monthly_runs: Annotated[
        float | None, option("--monthly-runs", "Runs every month; makes commitments an option.", LIMITS, "N")
    ] = None
    sweep: Annotated[int, option("--sweep", "Trials of a hyperparameter search.", LIMITS, "N")] = 1
    budget: Annotated[
        str | None, option("--budget", "Of the run, or of a month with --monthly-runs: 50k.", LIMITS, "USD")
    ] = None


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Which hardware may be recommended."""

    max_nodes: Annotated[int | None, option("--max-nodes", "Nodes at most; 512 GPUs by default.", HARDWARE, "N")] = None
    spot: Annotated[
        bool | None, option("--spot/--no-spot", "Spot only, or no spot; both ways by default.", HARDWARE)
    ] = None


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """Whether managed training, an own cluster and owned hardware are compared, and with which figures."""

    compare: Annotated[
        bool, option("--compare", "Also compare managed training, an own cluster and owned hardware.", COMPARISON)
    ] = False
    assume: Annotated[
        list[str] | None,
        option("--assume", "Replace a figure of --compare; may be repeated.", COMPARISON, "KEY=VALUE"),
    ] = None

    def assumptions(self, problems: list[Problem]) -> dict[str, float]:
        """The figures that are given, by their key; what cannot be read is added to `problems`."""
        found = {}
        for text in self.assume or []:
            key, _, value = text.partition("=")
            try:
                found[key.strip()] = float(value)
            except ValueError:
                allowed = "must be KEY=VALUE with a number, like owned_utilisation=0.8"
                problems.append(Problem("--assume", text, allowed))
        if self.assume and not self.compare:
            problems.append(Problem("--assume", self.assume[0], "is for --compare, which is not given"))
        return found


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What is printed and written."""

    explain: Annotated[bool, option("--explain", "Say where every figure comes from.", OUTPUT)] = False
    json_file: Annotated[
        Path | None, file_option("--json", help="Write everything as JSON; '-' is standard output.", panel=OUTPUT)
    ] = None
    html_file: Annotated[
        Path | None, file_option("--html", help="Write a page with hours against cost; '-' likewise.", panel=OUTPUT)
    ] = None

    @property
    def printed(self) -> str:
        """What standard output is taken by: `--json -`, `--html -` or nothing."""
        wanted = (("--json -", self.json_file), ("--html -", self.html_file))
        return " and ".join(name for name, file in wanted if str(file) == "-")

    def problems(self) -> list[Problem]:
        """One problem for each pair of outputs that exclude each other."""
        found = []
        wrong = clash({"--json": self.json_file, "--html": self.html_file})
        if wrong:
            found.append(Problem("--html", str(self.html_file), wrong))
        elif self.explain and self.printed:
            found.append(Problem("--explain", self.printed, "has every source anyway"))
        return found


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """Which stack's pool gets which option, and what was bought for it."""

    apply_to: Annotated[str | None, option("--apply", "Write the pool into a stack's file.", APPLYING, "STACK")] = None
    rank: Annotated[
        int | None,
        option("--option", "Which of the ranked options --apply writes; the first by default.", APPLYING, "N"),
    ] = None
    pool: Annotated[
        str | None, option("--pool", "The pool that --apply writes; train by default.", APPLYING, "NAME")
    ] = None
    reservation: Annotated[
        str | None, option("--reservation", "Of a reserved option that --apply writes: cr-...", APPLYING, "ID")
    ] = None
    zone: Annotated[str | None, option("--zone", "The reservation's zone.", APPLYING, "ZONE")] = None

    def problems(self) -> list[Problem]:
        """One problem for each option that needs another one beside it."""
        found = []
        if (self.reservation is None) != (self.zone is None):
            found.append(Problem("--reservation", self.reservation or "nothing", "is given with --zone"))
        if self.apply_to is None:
            for key, value in (("--option", self.rank), ("--pool", self.pool), ("--reservation", self.reservation)):
                if value is not None:
                    found.append(Problem(key, str(value), "is for --apply, which is not given"))
        return found


@grouped
def recommend(
    training: TrainingOptions,
    limits: LimitOptions,
    cloud: CloudOptions,
    search: SearchOptions,
    comparison: ComparisonOptions,
    output: OutputOptions,
    applying: ApplyOptions,
    project: ProjectOption = None,
) -> None:
    """What size a training needs and what it costs: instances, parallelism, hours and cost as ranges.

    Exit codes: 0 there is a recommendation; 1 there is none, with the reason; 2 the options are wrong.
    """
    problems: list[Problem] = []
    request = read_request(problems, training, limits, cloud, search)
    assumptions = comparison.assumptions(problems)
    problems += [*applying.problems(), *output.problems()]
    fail_with(problems, request)
    from trainyard import advice

    try:
        found = advice.recommend(request)
        compared = advice.compare(found, assumptions) if comparison.compare and found.options else None
        _show(found, compared, output)
        if applying.apply_to is not None and found.options:
            _apply(found, applying.apply_to, applying, project)
    except SettingsError as error:
        fail_options(error)
    if not found.options:
        raise typer.Exit(EXIT_NONE)


def _show(found: "Recommendation", compared: "Comparison | None", output: OutputOptions) -> None:
    if output.html_file is not None:
        from trainyard.advice.report.page import as_html
        from trainyard.cli.files import write_whole

        write_whole(output.html_file, as_html(found, compared))
    if output.json_file is not None:
        from trainyard.advice.report.as_json import recommendation_as_json
        from trainyard.cli.files import write_whole

        write_whole(output.json_file, recommendation_as_json(found, compared))
    if output.printed:
        return
    from trainyard.advice.report import recommendation_text
    from trainyard.output import show

    show(lambda out: recommendation_text.show(out, found, compared, explain=output.explain))


def _apply(found: "Recommendation", stack: str, applying: ApplyOptions, project: Path | None) -> None:
    from trainyard.cli.files import write_whole
    from trainyard.cli.recommend_apply import Reservation, write_checked

    place = 1 if applying.rank is None else applying.rank
    pool = "train" if applying.pool is None else applying.pool
    bought = Reservation(applying.reservation, applying.zone) if applying.reservation and applying.zone else None
    if not 1 <= place <= len(found.options):
        raise SettingsError([Problem("--option", str(place), f"must be 1 to {len(found.options)}")])
    folder = find_project(project)
    file = find_stack(folder, stack)
    chosen = found.options[place - 1]
    try:
        text = write_checked(folder, file, pool, chosen, found.region, bought)
    except SettingsError as error:
        if any(problem.key.startswith("--") for problem in error.problems):
            raise
        fail_settings(stack, error)
    write_whole(file, text)
    typer.echo(
        f"{file.name}: gpuPools.{pool} is now {chosen.nodes * chosen.copies} {chosen.machine.type}, {chosen.capacity}",
        err=True,
    )
