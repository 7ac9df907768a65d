"""`trainyard images`: the container images of an environment, and whether registries have what is pinned."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from trainyard.cli.files import write_json, write_whole
from trainyard.cli.project import JsonOption, ProjectOption, fail, find_project, find_stack, progress
from trainyard.recorded.types import TRAIN_JOB
from trainyard.review.exit_codes import EXIT_SETTINGS, EXIT_VIOLATED

app = typer.Typer(no_args_is_help=True, help="The container images, and whether registries have what is pinned.")


@app.command("list")
def list_images(
    stack: Annotated[str, typer.Argument(help="A stack: what its pods run. By default what the catalogue pins.")] = "",
    json_file: JsonOption = None,
    project: ProjectOption = None,
) -> None:
    """The images and the charts in registries, and the day on which a registry was asked for each digest.

    Of a stack, what its pods run; charts bring images of their own, by version.
    """
    from trainyard.catalog import chart_pins, image_pins

    pinned = (*image_pins(), *chart_pins())
    read = {pin.image: pin.read for pin in pinned}
    names = {pin.image: pin.label for pin in pinned}
    images = _of_stack(project, stack) if stack else list(read)
    rows = [{"name": names.get(image, ""), "image": image, "read": read.get(image) or ""} for image in images]
    if json_file is not None:
        write_json(json_file, rows)
        if str(json_file) == "-":
            return
    _show(
        ("name", "image", "read from its registry"),
        [[row["name"], row["image"], row["read"] or "never"] for row in rows],
    )


@app.command("check")
def check(
    images: Annotated[
        list[str] | None, typer.Argument(help="Images to ask for. By default all that the catalogue pins.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write the digests that were read into the catalogue.")
    ] = False,
    json_file: JsonOption = None,
) -> None:
    """Asks the registries what each tag stands for, without an account, and compares it with what is pinned.

    Of charts too that lie in such a registry: Helm pulls them by version, and a version that moved is another chart.

    Exit codes: 0 every pin is what its tag stands for, or was written; 1 one moved, is gone or has no digest; 2 a
    registry could not be asked, or the catalogue cannot be written.
    """
    from trainyard.catalog import chart_pins, image_pins
    from trainyard.refresh.images import State, compare, written
    from trainyard.refresh.model import RefreshError
    from trainyard.refresh.tables import catalog_folder

    if images and write:
        fail("--write is for what the catalogue pins: name no images beside it")
    pins = (*image_pins(), *chart_pins())
    with progress("asking registries"):
        found = compare([(image, image) for image in images] if images else [(pin.label, pin.image) for pin in pins])
    if json_file is not None:
        write_json(json_file, [one.as_json() for one in found])
    if json_file is None or str(json_file) != "-":
        _show(
            ("name", "state", "the tag stands for"), [[one.name, one.state.value, one.now or one.why] for one in found]
        )
    if write:
        try:
            file = catalog_folder() / "versions.yaml"
            text = written(file.read_text(encoding="utf-8"), pins, found, datetime.now(UTC).date())
        except (RefreshError, OSError) as error:
            fail(str(error))
        write_whole(file, text)
        return
    if any(one.state is State.SILENT for one in found):
        raise typer.Exit(EXIT_SETTINGS)
    if any(one.state is not State.SAME for one in found):
        raise typer.Exit(EXIT_VIOLATED)


def _of_stack(project: Path | None, stack: str) -> list[str]:
    """What the pods of a rehearsed stack run, each image once."""
    from trainyard.policies import pods
    from trainyard.recorded.read import value_at
    from trainyard.review.review import Review, judge

    root = find_project(project)
    outcome = judge(root, find_stack(root, stack))
    if not isinstance(outcome, Review):
        fail(f"{outcome.verdict.headline}: `trainyard check {stack}` says what is wrong")
    found = (
        str(value_at(container, "image", default=""))
        for resource in outcome.rehearsal.resources
        if resource.type in (*pods.TYPES, TRAIN_JOB)
        for _, container in pods.containers(resource)
    )
    return sorted({image for image in found if image})


def _show(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table

    from trainyard.output import console

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console().print(table)
