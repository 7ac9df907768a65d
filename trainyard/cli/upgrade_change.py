"""`trainyard upgrade STACK --from REF`: what the stack file says since REF, brought without ending anybody's job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.cli.files import write_json
from trainyard.cli.on_cluster import on_cluster
from trainyard.cli.project import find_since, progress, settings_of
from trainyard.cli.upgrade_steps import pulumi_of, say, stopping, tell_steps

if TYPE_CHECKING:
    from trainyard.fleet.clients import Client
    from trainyard.fleet.pulumi import Pulumi
    from trainyard.review.review import Review
    from trainyard.upgrade.ledger import Ledger
    from trainyard.upgrade.machines import Moved


def change(
    client: Client,
    since: str | None,
    under_way: Ledger | None,
    json_file: Path | None,
    wait_minutes: float,
    *,
    go: bool,
    evict: bool,
    program: str,
) -> None:
    """Tells which pools' nodes a change takes and whose jobs run there; with `go`, waits for them and brings it.

    Raises typer.Exit with the verdict's exit code where the change must not be made.
    """
    found = _rehearsed(client, since) if under_way is None else None
    if found is not None:
        ledger = found.ledger
        if str(json_file) != "-":
            _tell(client, found)
    else:
        assert under_way is not None
        ledger = under_way
        if str(json_file) != "-":
            tell_steps(client.stack, ledger.steps, True)
    worst = found.review.verdict.exit_code if found is not None else 0
    try:
        if go and not worst and found is not None and not found.flavors:
            say("nothing was held and nothing done: `pulumi up` brings a change that is in nobody's way")
        elif go and not worst:
            _run(client, ledger, found, wait_minutes, evict=evict, program=program)
    finally:  # how far each step came, wherever it stopped
        if json_file is not None:
            write_json(json_file, _document(client.stack, ledger, found))
    if worst:
        raise typer.Exit(worst)


@dataclass(frozen=True, slots=True)
class _Rehearsed:
    """A change that begins, and what was found of it."""

    review: Review
    way: list[Moved]
    flavors: list[str]
    ledger: Ledger


def _rehearsed(client: Client, since: str | None) -> _Rehearsed:
    from trainyard.review.review import review
    from trainyard.upgrade.ledger import FILE, Ledger, said_by, steps_of_change
    from trainyard.upgrade.machines import flavors_of, moved
    from trainyard.upgrade.run import folder_of, now

    config, said = client.config, said_by(client.file)
    with progress(f"rehearsing {client.stack}"), settings_of(client.stack):
        found = review(config.root, config.file, since=find_since(since, config.root))
    way = list(moved(found.change)) if found.change is not None else []
    flavors = flavors_of(way)
    ledger = Ledger(folder_of(client) / FILE, now(), steps_of_change(flavors), said=said)
    return _Rehearsed(found, way, flavors, ledger)


def _tell(client: Client, found: _Rehearsed) -> None:
    """What the change is, whose jobs are in its way, and the steps; that there are none where no job is."""
    from trainyard.output import console

    out, change = console(), found.review.change
    if change is not None:
        out.print(f"{client.stack} from {change.source}: {change.summary}", style="bold", markup=False)
    for each in found.way:
        out.print(f"  {each.pool}: {each.happens}", style="yellow", soft_wrap=True, markup=False, highlight=False)
    for finding in change.findings if change is not None else ():
        if finding.level == "error":
            told = f"  error {finding.rule} {finding.name}: {finding.message}"
            out.print(told, style="red", soft_wrap=True, markup=False, highlight=False)
    if not found.review.verdict.state.deployable:
        out.print(f"  {found.review.verdict.headline}", style="red", soft_wrap=True, markup=False)
    elif found.flavors:
        tell_steps(client.stack, found.ledger.steps, False)
    else:
        out.print("  nobody's job is in the way: `pulumi up` brings it", soft_wrap=True, markup=False)


def _document(stack: str, ledger: Ledger, found: _Rehearsed | None) -> dict[str, object]:
    """What is told; of a change that goes on, the steps alone: it was rehearsed when it began."""
    steps = [{"kind": step.kind, "words": step.words, "state": step.state} for step in ledger.steps]
    if found is None:
        return {"stack": stack, "steps": steps}
    change = found.review.change
    return {
        "stack": stack,
        "change": change.as_json() if change is not None else {},
        "verdict": found.review.verdict.as_json(),
        "moved": [each.as_json() for each in found.way],
        "steps": steps,
    }


def _run(
    client: Client, ledger: Ledger, found: _Rehearsed | None, wait_minutes: float, *, evict: bool, program: str
) -> None:
    from trainyard.upgrade.run import Options, carry_out

    pulumi = pulumi_of(program, client)
    with stopping(), on_cluster(pulumi, "queues are held with it") as kubectl:
        if found is not None:
            _is_deployed(pulumi, found)
        ledger.write()
        carry_out(ledger, pulumi, kubectl, lambda _: (), Options(wait_minutes, evict), say)
    say(f"{client.stack} is as its stack file says, and its queues are open")


def _is_deployed(pulumi: Pulumi, found: _Rehearsed) -> None:
    """Raises NotBegunError where `pulumi up` would take more nodes than were told: those of which no job is waited for.

    It is the deployed state that `pulumi up` starts from, and what was told is from another one: a reference that is
    not what is deployed, or a file that is older.
    """
    from trainyard.fleet.pulumi import PulumiError
    from trainyard.rehearsal.change.earlier import from_json
    from trainyard.review.change.review import review_change
    from trainyard.upgrade.machines import not_told
    from trainyard.upgrade.run import NotBegunError

    try:
        deployed = from_json(pulumi.state(), "what is deployed")
    except PulumiError as error:
        raise NotBegunError(f"what is deployed could not be asked, and nothing was held: {error}") from None
    further = not_told(found.way, review_change(deployed, found.review.rehearsal))
    if further:
        named = found.review.change.source if found.review.change is not None else ""
        lines = "\n".join(f"  {each.pool}: {each.happens}" for each in further)
        raise NotBegunError(
            f"what is deployed is not {named}: `pulumi up` would take nodes that the comparison with it does not tell\n"
            f"{lines}\nnothing was held; `pulumi stack export --file FILE`, then --from FILE waits for their jobs too"
        )
