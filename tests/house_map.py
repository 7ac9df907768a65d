"""`make map`: the rooms of the house, who imports whom, and how many lines each has, beside another commit's.

Rooms are the modules and packages directly below `trainyard`; their layers stand in pyproject.toml. Lines of code are
lines of Python files with code on them: no blank line, no comment, no docstring. Data are all lines of the other files
(CSV, YAML, JSON, templates). Tests, documents and the files at the root are not counted.

    python -m tests.house_map [COMMIT]

ends with 1 where an import runs upwards or in a circle.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath

import grimp

from tests.shared import ROOT

PACKAGE = "trainyard"
LINKED = ("stacks", "components", "policies", "smoke_jobs")
"""Folders at the root that are linked into the package."""

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a room's files: Python with code on them, and of data files all."""

    code: int = 0
    data: int = 0

    def __add__(self, other: Lines) -> Lines:
        return Lines(self.code + other.code, self.data + other.data)


def layers() -> list[list[str]]:
    """The rooms, layer by layer from the top, as the contract in pyproject.toml places them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [found for found in project["tool"]["importlinter"]["contracts"] if found["type"] == "layers"]
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]


def imports(graph: grimp.ImportGraph) -> Counter[tuple[str, str]]:
    """How many imports there are from a room to another one."""
    found: Counter[tuple[str, str]] = Counter()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = _room_of_module(module), _room_of_module(imported)
            if pair[0] != pair[1]:
                found[pair] += 1
    return found


def wrong_ways(graph: grimp.ImportGraph, placed: list[list[str]]) -> list[str]:
    """A line for each import upwards or aside, and one for a circle of modules if there is any."""
    depth = {room: index for index, layer in enumerate(placed) for room in layer}
    found = [
        f"upwards: {importer} imports {imported}"
        for importer, imported in sorted(imports(graph))
        if PACKAGE not in (importer, imported) and depth[importer] >= depth[imported]
    ]
    try:
        TopologicalSorter({name: graph.find_modules_directly_imported_by(name) for name in graph.modules}).prepare()
    except CycleError as error:
        found.append(f"a circle: {' is imported by '.join(error.args[1])}")
    return found


def count(path: str, text: str) -> Lines:
    """The lines of one file."""
    if not path.endswith(".py"):
        return Lines(data=len(text.splitlines()))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return Lines(code=len(lines))


def room_of_file(path: str) -> str:
    """The room that a file of the repository lies in; an empty text for what is no product code."""
    parts = PurePosixPath(path).parts
    if parts[0] in LINKED:
        return parts[0]
    if parts[0] != PACKAGE:
        return ""
    return parts[1].removesuffix(".py") if parts[1] != "__init__.py" else PACKAGE


def by_room(files: Mapping[str, str], rooms: Mapping[str, str]) -> dict[str, Lines]:
    """The lines of every room.

    Args:
        files: the text of every file, by its path.
        rooms: the room of every path.
    """
    found: dict[str, Lines] = {}
    for path, text in files.items():
        if rooms[path]:
            found[rooms[path]] = found.get(rooms[path], Lines()) + count(path, text)
    return found


def here() -> dict[str, str]:
    """The product's files in the working tree."""
    paths = _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    files = (ROOT / path for path in paths if room_of_file(path))
    return {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for file in files
        if file.is_file() and not file.is_symlink()
    }


def at(commit: str) -> dict[str, str]:
    """The product's files at a commit."""
    found: dict[str, str] = {}
    for line in _git("ls-tree", "-r", commit).splitlines():
        about, path = line.split("\t")
        mode, _, digest = about.split()
        if room_of_file(path) and mode != "120000":  # a link
            found[path] = _git("cat-file", "blob", digest)
    return found


def moved(commit: str) -> dict[str, str]:
    """Where git finds a commit's files again in the working tree: by content, a third of which is alike."""
    changed = _git("diff", "--find-renames=33%", "-l0", "--diff-filter=R", "--name-status", commit).splitlines()
    return {before: after for _, before, after in (line.split("\t") for line in changed)}


def rooms_now(earlier: Collection[str], now: Collection[str], moves: Mapping[str, str]) -> dict[str, str]:
    """Today's room of every earlier file: where it is now, else where most of its folder went, else its own folder."""
    placed = {path: room_of_file(moves.get(path, path)) for path in earlier if path in moves or path in now}
    folders: dict[PurePosixPath, Counter[str]] = {}
    for path, room in placed.items():
        folders.setdefault(PurePosixPath(path).parent, Counter())[room] += 1
    found = {}
    for path in earlier:
        beside = folders.get(PurePosixPath(path).parent)
        found[path] = placed.get(path) or (beside.most_common(1)[0][0] if beside else room_of_file(path))
    return found


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _room_of_module(name: str) -> str:
    return name.split(".")[1] if "." in name else name


def _print_imports(placed: list[list[str]], found: Counter[tuple[str, str]]) -> None:
    print(
        "room          imports (how many), layer by layer from the top; what stands together does not import each other"
    )
    for layer in placed:
        print()
        for room in layer:
            targets = [(imported, number) for (importer, imported), number in sorted(found.items()) if importer == room]
            print(f"{room:13} {', '.join(f'{imported} {number}' for imported, number in targets)}".rstrip())


def _print_lines(order: Iterable[str], now: Mapping[str, Lines], before: Mapping[str, Lines] | None) -> None:
    columns = ("code", "data") if before is None else ("code", "before", "data", "before")
    print(f"\n{'lines':13}" + "".join(f"{column:>9}" for column in columns))
    rows = [*dict.fromkeys([*order, *now, *(before or {})])]
    for room in rows:
        _print_row(room, now.get(room, Lines()), None if before is None else before.get(room, Lines()))
    total = sum(now.values(), Lines())
    _print_row("together", total, None if before is None else sum(before.values(), Lines()))


def _print_row(name: str, now: Lines, before: Lines | None) -> None:
    values = (now.code, now.data) if before is None else (now.code, before.code, now.data, before.data)
    print(f"{name:13}" + "".join(f"{value:9,}" for value in values))


def main(arguments: list[str]) -> int:
    """Prints the map; 1 where an import runs the wrong way."""
    placed = layers()
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    _print_imports(placed, imports(graph))
    wrong = wrong_ways(graph, placed)
    print("\n" + ("\n".join(wrong) or "no circle, no arrow upwards"))
    files, before = here(), None
    if arguments:
        earlier = at(arguments[0])
        before = by_room(earlier, rooms_now(earlier, files, moved(arguments[0])))
    now = by_room(files, {path: room_of_file(path) for path in files})
    _print_lines([room for layer in placed for room in layer], now, before)
    if arguments:
        print(f"\nbefore: {arguments[0]}, a file counted to the room where it, or most of its folder, is now")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
