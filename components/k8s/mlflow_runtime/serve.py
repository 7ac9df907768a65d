"""Starts the MLflow server with what it can take from its environment only, read from mounted files.

    serve.py NAME=FILE… [--metrics DIRECTORY] -- COMMAND…

MLflow reads the key that signs its forms from an environment variable. Set in the pod's specification, it would
be in the cluster's API, in `kubectl describe` and in every tool that lists environments; here it goes from a
mounted file straight into the process. Each NAME is set to the content of FILE, surrounding white space removed.

`--metrics` empties the directory of the metrics: a restarted container finds those of the processes before it,
which count for nothing any more.

COMMAND replaces this program, so that it gets the signals of the container.
"""

import os
import sys
from pathlib import Path


def secrets(pairs: list[str]) -> dict[str, str]:
    """Reads `NAME=FILE` pairs. Raises ValueError, naming the pair, for a bad one or an empty file."""
    found = {}
    for pair in pairs:
        name, equals, file = pair.partition("=")
        if not (name and equals and file):
            raise ValueError(f"{pair!r} is not NAME=FILE")
        value = Path(file).read_text(encoding="utf-8").strip()
        if not value:
            raise ValueError(f"{pair!r}: the file is empty")
        found[name] = value
    return found


def empty(directory: Path) -> None:
    """Makes the directory if need be and removes the files in it."""
    directory.mkdir(parents=True, exist_ok=True)
    for file in directory.iterdir():
        if file.is_file():
            file.unlink()


def main(argv: list[str]) -> int:
    """Prepares and becomes COMMAND. Returns only when it could not: 2 for a bad command line, file or command."""
    if "--" not in argv or argv[-1] == "--":
        print(__doc__, file=sys.stderr)
        return 2
    own, command = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
    try:
        if "--metrics" in own:
            at = own.index("--metrics")
            directory = own[at + 1 : at + 2]
            if not directory:
                raise ValueError("--metrics needs a directory")
            empty(Path(directory[0]))
            del own[at : at + 2]
        environment = {**os.environ, **secrets(own)}
    except (OSError, ValueError) as error:
        print(f"serve: {error}", file=sys.stderr)
        return 2
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 — becoming the command is the purpose
    except OSError as error:
        print(f"serve: {command[0]}: {error.strerror}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
