"""`trainyard cost`: what a stack costs a month."""

from __future__ import annotations

from typing import Annotated

import typer

from trainyard.cli.files import check_outputs, write_json, write_whole
from trainyard.cli.project import (
    EXIT_PROGRAM,
    EXIT_VIOLATED,
    HtmlOption,
    JsonOption,
    OtherStacksOption,
    ProjectOption,
    StackArgument,
    fail,
    find_project,
    find_stack,
    other_stacks,
    progress,
    settings_of,
    warn_of,
)
from trainyard.problems import SettingsError


def cost(
    stack: StackArgument,
    json_file: JsonOption = None,
    html_file: HtmlOption = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="What the same use would cost on demand, committed, or always on.")
    ] = False,
    fail_over_budget: Annotated[
        bool, typer.Option("--fail-over-budget", help="Exit with 1 when the expected cost is over the monthly budget.")
    ] = False,
    utilisation: Annotated[
        float | None, typer.Option(metavar="PERCENT", help="How much of the month the GPU pools are used.")
    ] = None,
    spot_share: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", help="Hours on spot, of a pool that has spot and on-demand nodes."),
    ] = None,
    spot_saving: Annotated[
        float | None, typer.Option(metavar="PERCENT", help="How far spot is below on-demand, for every type.")
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option("--assume", metavar="KEY=VALUE", help="Replace any other assumption; --json lists them."),
    ] = None,
    stack_outputs: OtherStacksOption = None,
    project: ProjectOption = None,
) -> None:
    """What a stack costs a month, from the resources that it makes: floor, expected and ceiling.

    Exit codes: 0 all is well; 1 over the budget, with --fail-over-budget; 2 the settings are wrong; 3 the program is
    wrong.
    """
    check_outputs({"--json": json_file, "--html": html_file})
    folder = find_project(project)
    file = find_stack(folder, stack)
    values = _values(assume or [])
    elsewhere = other_stacks(stack_outputs)
    flags = {"utilisation_percent": utilisation, "spot_share_percent": spot_share, "spot_saving_percent": spot_saving}
    values.update({key: value for key, value in flags.items() if value is not None})
    with settings_of(stack), progress(f"rehearsing {stack}"):
        from trainyard.rehearsal.rehearse import rehearse
        from trainyard.settings.unseen import stand_in

        rehearsal = rehearse(folder, file, stack_outputs=elsewhere, stand_in=stand_in)
    warn_of(rehearsal)
    if rehearsal.errors:
        fail(
            f"the program of {stack} is wrong, so what it makes cannot be priced: "
            f"{rehearsal.errors[0]}; trainyard rehearse {stack} tells all",
            code=EXIT_PROGRAM,
        )
    from trainyard.cost.compare import alternatives
    from trainyard.cost.price import assumptions_of, price_stack
    from trainyard.output import show
    from trainyard.review.reports.cost import as_html, report

    try:
        assumptions = assumptions_of(rehearsal.plan).with_values(values)
    except SettingsError as error:
        fail("; ".join(f"assumption {problem}" for problem in error.problems))
    found = price_stack(rehearsal.readable, rehearsal.plan, assumptions=assumptions)
    others = alternatives(rehearsal.readable, rehearsal.plan, found, assumptions=assumptions) if compare else ()
    if json_file is not None:
        told = found.as_json()
        if compare:
            told["alternatives"] = [other.as_json() for other in others]
        write_json(json_file, told)
    if html_file is not None:
        write_whole(html_file, as_html(found, others))
    if "-" not in (str(json_file), str(html_file)):
        show(lambda out: out.print(report(found, others)))
    if fail_over_budget and found.budget_usd is not None and found.total.expected > found.budget_usd:
        raise typer.Exit(EXIT_VIOLATED)


def _values(pairs: list[str]) -> dict[str, float]:
    values = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        try:
            values[key.strip()] = float(text)
        except ValueError:
            equals = ""
        if not equals:
            fail(f"--assume {pair}: must be KEY=VALUE with a number, such as nat_gb=500")
    return values
