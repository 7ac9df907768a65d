"""`trainyard upgrade STACK --from REF`: what the stack file says since REF, brought without ending anybody's job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.cli.files import write_json
from trainyard.cli.on_cluster import on_cluster
from trainyard.cli.project import find_since, progress, settings_of
from trainyard.cli.upgrade_steps import pulumi_of, say, stopping, tell_steps

if TYPE_CHECKING:
    from trainyard.fleet.clients import Client
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
    if under_way is None:
        found = _rehearsed(client, since)
        steps, worst = _told(client, found, json_file), found.verdict.exit_code
        if worst:
            raise typer.Exit(worst)
        if steps is None:
            return
    else:
        steps = under_way
        tell_steps(client.stack, under_way.steps, True)
    if go:
        _run(client, steps, wait_minutes, evict=evict, program=program)


def _rehearsed(client: Client, since: str | None) -> Review:
    from trainyard.review.review import review

    config = client.config
    with progress(f"rehearsing {client.stack}"), settings_of(client.stack):
        return review(config.root, config.file, since=find_since(since, config.root))


def _told(client: Client, found: Review, json_file: Path | None) -> Ledger | None:
    """The ledger of the steps that are to be taken; None where no job is in the way of the change."""
    from trainyard.output import console
    from trainyard.upgrade.ledger import FILE, Ledger, steps_of_change
    from trainyard.upgrade.machines import flavors_of, moved
    from trainyard.upgrade.run import folder_of, now

    way = list(moved(found.change)) if found.change is not None else []
    flavors = flavors_of(way)
    ledger = Ledger(folder_of(client) / FILE, now(), steps_of_change(flavors))
    if json_file is not None:
        write_json(json_file, _document(client.stack, found, way, ledger))
    if str(json_file) != "-":
        out = console()
        if found.change is not None:
            out.print(f"{client.stack} from {found.change.source}: {found.change.summary}", style="bold", markup=False)
        for each in way:
            out.print(f"  {each.pool}: {each.happens}", style="yellow", soft_wrap=True, markup=False, highlight=False)
        for finding in found.change.findings if found.change is not None else ():
            if finding.level == "error":
                told = f"  error {finding.rule} {finding.name}: {finding.message}"
                out.print(told, style="red", soft_wrap=True, markup=False, highlight=False)
        if not found.verdict.state.deployable:
            out.print(f"  {found.verdict.headline}", style="red", soft_wrap=True, markup=False)
        elif flavors:
            tell_steps(client.stack, ledger.steps, False)
        else:
            out.print("  nobody's job is in the way: `pulumi up` brings it", soft_wrap=True, markup=False)
    return ledger if flavors else None


def _document(stack: str, found: Review, way: list[Moved], ledger: Ledger) -> dict[str, object]:
    return {
        "stack": stack,
        "change": found.change.as_json() if found.change is not None else {},
        "verdict": found.verdict.as_json(),
        "moved": [each.as_json() for each in way],
        "steps": [{"kind": step.kind, "words": step.words, "state": step.state} for step in ledger.steps],
    }


def _run(client: Client, ledger: Ledger, wait_minutes: float, *, evict: bool, program: str) -> None:
    from trainyard.upgrade.run import Options, carry_out

    pulumi = pulumi_of(program, client)
    ledger.write()
    with stopping(), on_cluster(pulumi, "queues are held with it") as kubectl:
        carry_out(ledger, pulumi, kubectl, lambda _: (), Options(wait_minutes, evict), say)
    say(f"{client.stack} is as its stack file says, and its queues are open")
