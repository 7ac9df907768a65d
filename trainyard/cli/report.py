"""`trainyard report`: the handover of an environment, as a page and on paper."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli.files import check_outputs, write_bytes, write_whole
from trainyard.cli.project import (
    ProjectOption,
    fail,
    fail_problems,
    fail_settings,
    file_option,
    find_project,
    find_stack,
    progress,
    stack_files,
    warn,
)
from trainyard.cli.schema import SCHEMA_FILE
from trainyard.cli.stack_text import stack_text
from trainyard.conventions import LONGEST_NAME
from trainyard.problems import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from trainyard.advice.assessment import Assessment
    from trainyard.fleet.clients import Fleet
    from trainyard.review.handover.agency import Look
    from trainyard.review.handover.page import Document
    from trainyard.review.handover.subject import Subject
    from trainyard.review.review import Review


def report(
    stack: Annotated[
        str | None,
        typer.Argument(metavar="STACK", help="A stack's name or its file. A proposal with --answers does without."),
    ] = None,
    output: Annotated[
        Path | None,
        file_option(
            "--output",
            "-o",
            help="Where the page goes; '-' is standard output. STACK-handover.html, or -proposal, if not given.",
        ),
    ] = None,
    pdf_file: Annotated[
        Path | None, file_option("--pdf", help="Print it too, through Chromium, Chrome or Edge.")
    ] = None,
    smoke: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="A result of `trainyard smoke STACK --json FILE`; may be repeated."),
    ] = None,
    answers: Annotated[
        Path | None, file_option("--answers", help="What the client answered. By default the file beside the stack's.")
    ] = None,
    proposal: Annotated[
        bool, typer.Option("--proposal", help="Before anything exists: sizes, options, price, payback, plan of work.")
    ] = False,
    browser: Annotated[str | None, typer.Option(metavar="PROGRAM", help="The browser that prints.")] = None,
    project: ProjectOption = None,
) -> None:
    """Write the handover: what the client has, what it costs, what protects them; how it is run, restored and ended.

    With --proposal, the same before anything exists, from what the client answered (`trainyard new CLIENT --ask` keeps
    it beside the stack's file; or --answers). Without a STACK the environment is the one that the answers come to.

    The stack is rehearsed, judged and priced; what is found stands on the first page. The agency's name, colour, logo
    and contact are those of `agency` in fleet.yaml. The page loads nothing and holds no secret.

    Exit codes: 0 written, the stack can be deployed; 1 written, a mandatory policy is violated; 2 an option, a file or
    the settings are wrong, or there is no browser for --pdf; 3 written, the program is wrong.
    """
    if stack is None and not (proposal and answers is not None):
        fail("name a stack; only a proposal with --answers FILE does without")
    name = _name_of(stack if stack is not None else str(answers))
    page = output if output is not None else Path(f"{name}-{'proposal' if proposal else 'handover'}.html")
    check_outputs({"--output": page, "--pdf": pdf_file})
    if str(pdf_file) == "-":
        fail("--pdf -: a PDF goes into a file")
    program = _browser(browser, pdf_file)
    folder = find_project(project)
    today = datetime.now(tz=UTC).date()
    if proposal and smoke:
        fail(f"--smoke {smoke[0]}: is of an environment that stands, and a proposal comes before")
    fleet, look = _fleet(folder)
    file = find_stack(folder, stack) if stack is not None else None
    given = _answers(file, answers, today)
    if proposal and given is None:
        fail(
            f"there are no answers of {name}: `trainyard assess {_answers_file(file, folder)}` asks for them and "
            "writes that file; --answers FILE names another"
        )
    results = _results(smoke or [], file)
    found = _judged(folder, file, name) if file is not None else _drafted(folder, name, given)
    from trainyard.review.handover.page import as_html
    from trainyard.review.handover.subject import Subject

    entry = fleet.stacks.get(stack or "")
    called = name if file is None else entry.called if entry is not None else None
    subject = Subject(found, today, results, given, called)
    if given is not None:
        from trainyard.review.handover.engagement import otherwise

        warn(
            f"{each}; mend the answers or the stack before the client reads both" for each in otherwise(subject, given)
        )
    html = as_html(_document(subject, look, proposal=proposal), subject, look)
    _write(html, page, pdf_file, program)
    if found.verdict.exit_code:
        typer.echo(f"{found.verdict.headline}.", err=True)
        raise typer.Exit(found.verdict.exit_code)


_NO_PROJECT = {
    "project": "your-project", "projectNumber": "100000000000", "billingAccount": "000000-000000-000000",
}  # fmt: skip
"""What a draft is rehearsed with before a client has a project of Google Cloud; the first is read in the proposal."""


def _name_of(stack: str) -> str:
    """What a stack, or a file of answers, is called in the name of the document."""
    name = Path(stack).name.removeprefix("Pulumi.").removesuffix(".yaml").removesuffix(".yml")
    return name.removesuffix(".answers")


def _judged(folder: Path, file: Path, name: str) -> Review:
    """The stack, judged; ends the command where its settings are wrong."""
    with progress(f"rehearsing {name}"):
        from trainyard.review.review import Unjudged, judge

        found = judge(folder, file)
    if isinstance(found, Unjudged):
        if not found.mistakes:
            fail(found.verdict.headline, code=found.verdict.exit_code)
        fail_settings(name, SettingsError(mistake.problem for mistake in found.mistakes))
    return found


def _answers_file(file: Path | None, folder: Path) -> str:
    """Where a stack's answers belong, as it is typed in the project's folder."""
    from trainyard.advice.assessment import assessment_path

    path = assessment_path(file) if file is not None else Path("answers.yaml")
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _drafted(folder: Path, name: str, given: Assessment | None) -> Review:
    """The environment that the answers come to, judged; nothing of it is written to the project."""
    if given is None:
        fail("there are no answers")
    from trainyard.advice.assessed import first_settings

    client = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST_NAME].strip("-")
    if not client or not client[0].isalpha():
        client = "client"
    settings = {"client": client, "alertEmails": [f"alerts@{client}.example"], **first_settings(given)}
    if settings["cloud"] == "gcp":
        settings["gcp"] = _NO_PROJECT
    with tempfile.TemporaryDirectory() as scratch:
        draft = Path(scratch) / f"Pulumi.{client}.yaml"
        draft.write_text(stack_text(settings, client, SCHEMA_FILE), encoding="utf-8")
        return _judged(folder, draft, "the draft")


def _browser(given: str | None, pdf_file: Path | None) -> str:
    """The browser that prints, before anything that takes long; empty where nothing is printed."""
    if pdf_file is None:
        if given is not None:
            fail(f"--browser {given}: is for --pdf, which is not given")
        return ""
    from trainyard.review.handover.pdf import NoPdf, find_browser

    try:
        return find_browser(given)
    except NoPdf as error:
        fail(str(error))


def _fleet(folder: Path) -> tuple[Fleet, Look]:
    """The project's fleet.yaml, and its agency with its logo."""
    from trainyard.fleet.clients import FILE, read_fleet
    from trainyard.rehearsal.engine.project import stack_of
    from trainyard.review.handover.agency import look_of

    try:
        fleet = read_fleet(folder, [stack_of(file) for file in stack_files(folder)])
        look = look_of(fleet.agency, folder)
    except SettingsError as error:
        fail_problems("in the settings of the fleet", error)
    if fleet.agency is None:
        warn([f"{FILE} has no `agency`: the document names nobody who hands over (docs/report.md)"])
    return fleet, look


def _answers(file: Path | None, given: Path | None, today: date) -> Assessment | None:
    """What the client answered, in the file that is named or the one beside the stack's; None where there is none."""
    from trainyard.advice.assessed import read_assessment
    from trainyard.advice.assessment import assessment_path

    path = given if given is not None or file is None else assessment_path(file)
    if path is None or (given is None and not path.is_file()):
        return None
    try:
        return read_assessment(path, today)
    except SettingsError as error:
        fail_problems(f"in the answers {path.name}", error)


def _results(paths: Sequence[str], file: Path | None) -> tuple[Mapping[str, Any], ...]:
    """The results of smoke jobs that are named, which have to be the stack's."""
    if not paths or file is None:
        return ()
    from trainyard.rehearsal.engine.project import stack_of
    from trainyard.review.handover.proof import read_result

    try:
        return tuple(read_result(Path(path), stack_of(file)) for path in paths)
    except SettingsError as error:
        fail_problems("with --smoke", error)


def _document(subject: Subject, look: Look, *, proposal: bool) -> Document:
    """The handover, or the proposal where that is asked for; there are answers then."""
    if not proposal or subject.answers is None:
        from trainyard.review.handover.handover import handover

        return handover(subject)
    from trainyard.review.handover.proposal import proposal as proposed

    if look.agency.prices is None:
        warn(["fleet.yaml has no `agency.prices`: the proposal names no price of the work and no payback"])
    return proposed(subject, subject.answers, look.agency)


def _write(html: str, page: Path, pdf_file: Path | None, browser: str) -> None:
    """Writes the page and, where asked, what the browser prints of it; says where both are."""
    content = b""
    if pdf_file is not None:
        from trainyard.review.handover.pdf import NoPdf, as_pdf

        with progress("printing"):
            try:
                content = as_pdf(html, browser)
            except NoPdf as error:
                fail(str(error))
    write_whole(page, html)
    written = [] if str(page) == "-" else [str(page)]
    if pdf_file is not None:
        write_bytes(pdf_file, content)
        written.append(str(pdf_file))
    if written and str(page) != "-":
        typer.echo(f"Wrote {' and '.join(written)}.")
