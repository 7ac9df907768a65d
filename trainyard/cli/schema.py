"""`trainyard schema`: the JSON schema of a stack file, for editors and for whatever else checks one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from trainyard.cli.files import write_json
from trainyard.cli.project import file_option

SCHEMA_FILE = "trainyard.schema.json"
"""Name of the schema's file in a project, where it lies beside the stack files."""


def schema(
    output: Annotated[
        Path | None, file_option("--output", "-o", help="Where to write it; standard output by default.")
    ] = None,
) -> None:
    """The JSON schema of a stack file: every key with its type, default, description and example.

    An editor with a YAML language server completes and checks a stack file that begins with
    `# yaml-language-server: $schema=trainyard.schema.json`, the schema's place seen from there. `init` writes both.
    Exit codes: 0 written; 2 the file cannot be written.
    """
    write_json(output or Path("-"), schema_document())


def schema_document() -> dict[str, Any]:
    """The schema with what the team-size profiles decide where a setting is left out."""
    from trainyard.plan.defaults import defaults, in_words
    from trainyard.settings.schema import stack_schema

    return stack_schema({path: in_words(entries) for path, entries in defaults().items()})


def schema_comment(place: str) -> str:
    """The first line of a stack file that names its schema to an editor, by its place seen from the file."""
    return f"# yaml-language-server: $schema={place}\n"
