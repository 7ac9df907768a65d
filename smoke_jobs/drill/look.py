"""Looks at the newest checkpoints of a team, wherever its jobs left them: whole or not, and how old.

It reads and changes nothing, and it runs no code of a checkpoint: a pickle is taken apart with stand-ins for all that
it names, or by torch with `weights_only`. The standard library is enough for all but that last. What it knows:

- a folder with `manifest.json` that names files with `size` and `sha256`, as the smoke job writes it;
- a folder with `.metadata`, torch's distributed checkpoint: every file that it names is there, and long enough for what
  it says lies in it;
- safetensors, alone or with an index of several files: headers, lengths, that no file is missing;
- `torch.save` (`.pt`, `.pth`, `.ckpt`, `.bin`): an archive whose directory and checksums agree, alone or with an index.

Files that lie in one folder without anything that names them all, as the weights, the optimizer and the arguments of
one save, are looked at together; of those whose names differ in digits alone, as of one save after another, what was
written last.

Of every folder right below the root, a run as a rule, the newest whole one counts if the run wrote within a week, and
the newest of all in any case. One that lacks what is written last is taken for a save that was cut short, and the one
before counts; one that is whole by its own words and not by its bytes is a failure. Jobs delete their old checkpoints
and write over others meanwhile: what goes or changes while it is looked at is no failure.

The last line on standard output is the verdict, as JSON. Exit codes: 0 all is as it should be, or there is nothing to
look at; 11 one cannot be read; 12 the newest is older than `--younger-than-hours`, or there is none: whether the team
has trained at all, the alert knows.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import io
import json
import pickle
import re
import struct
import sys
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .exits import DAMAGED, FOUND, OLD

SETTLED_S = 15 * 60
"""What was written to since then may be in the middle of a save, which looks damaged; it is young all the same."""
GONE_S = 30
"""How long a deletion that is under way may take; whoever finds damage looks again after it."""
RECENT_S = 7 * 24 * 3600
"""Runs that wrote since then are looked at; of the others, one."""
NOT_TEAMS = ("drill", "smoke")
"""Folders below the root that are the platform's own."""
MANIFEST, METADATA, INDEX = "manifest.json", ".metadata", ".index.json"
OUR_FOLDER = re.compile("step-[0-9]{8}")
ARCHIVES = (".pt", ".pth", ".ckpt", ".bin")
LARGEST_METADATA = 256 << 20
"""Bytes of a pickle that are taken apart: the index of 100,000 tensors is about 30 MB."""
LARGEST_HEADER = 100 << 20
"""Bytes of a safetensors header, as the format limits it."""
LARGEST_LOADED = 1 << 30
"""Bytes of a file that torch loads whole."""
READ_AT_MOST = 64 << 30
"""Bytes that are read through in a run, for checksums; of what is beyond, lengths are compared."""
BLOCK = 8 << 20


class Damaged(Exception):  # noqa: N818 - a verdict on a checkpoint
    """A checkpoint is whole by its own words, and is not; the text says which file and why."""


@dataclass(frozen=True)
class Checkpoint:
    """One that can be looked at: a folder, or a file of its own."""

    path: Path
    kind: str
    written: float  # seconds since the epoch
    last: Path  # what was written last, at that time

    @property
    def stands(self) -> bool:
        """Whether it is still there as it was found: a job may have deleted it or written over it since."""
        try:
            return self.last.stat().st_mtime == self.written
        except OSError as error:
            return not _gone(error)


class _Budget:
    """How much may still be read through."""

    def __init__(self, left: int) -> None:
        self.left, self.skipped = left, 0

    def take(self, size: int) -> bool:
        if size > self.left:
            self.skipped += 1
            return False
        self.left -= size
        return True


def checkpoints(root: Path) -> Iterator[Checkpoint]:
    """All that are complete by what is written last, in no order; what cannot be listed raises OSError.

    What a job deletes while this looks at it is left out.
    """
    for folder, names in _folders(root):
        try:
            kind = _kind(folder, names)
        except OSError as error:
            if _gone(error):
                continue
            raise
        last = {"manifest": MANIFEST, "dcp": METADATA}.get(kind or "")
        files = dict(_times([folder / last] if last else [folder / name for name in names if _is_data(name)]))
        if kind is None:
            for path, written in files.items():
                yield Checkpoint(path, "file", written, path)
        elif files:
            newest = max(files, key=files.__getitem__)
            yield Checkpoint(folder, kind, files[newest], newest)


def _times(paths: Iterable[Path]) -> Iterator[tuple[Path, float]]:
    """When each was written that is still there."""
    for path in paths:
        try:
            yield path, path.stat().st_mtime
        except OSError as error:
            if not _gone(error):
                raise


def _gone(error: OSError) -> bool:
    """Whether what was asked for is there no longer; network file systems say so in a way of their own."""
    return error.errno in (errno.ENOENT, errno.ESTALE)


def _entries(folder: Path, root: Path) -> list[Path]:
    """What lies in a folder; nothing where a job has deleted it since it was listed. The root is a mount: it stays."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        if folder == root or not _gone(error):
            raise
        return []


def _folders(root: Path) -> Iterator[tuple[Path, list[str]]]:
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        names = []
        for entry in _entries(folder, root):
            if entry.is_symlink() or (folder == root and entry.name in NOT_TEAMS):
                continue  # a link may lead anywhere
            if entry.is_dir():
                waiting.append(entry)
            elif not entry.name.startswith(".part-"):
                names.append(entry.name)
        yield folder, names


def _kind(folder: Path, names: Iterable[str]) -> str | None:
    """What a folder is as a whole; None: each file in it is one of its own, or none. Other programs use the same names
    for other things."""
    there = set(names)
    shards = any(name.endswith(".distcp") for name in there)
    if MANIFEST in there and (OUR_FOLDER.fullmatch(folder.name) or _names_sizes(folder / MANIFEST)):
        return "manifest"
    if METADATA in there and (shards or _begins_as_pickle(folder / METADATA)):
        return "dcp"
    if shards:
        return "unfinished"  # its metadata come last
    return "index" if any(_weights(folder / name) for name in there if name.endswith(INDEX)) else None


def _names_sizes(manifest: Path) -> bool:
    try:
        files = _json(manifest).get("files")
    except Damaged:
        return False
    return isinstance(files, dict) and all(isinstance(words, dict) and "size" in words for words in files.values())


def _begins_as_pickle(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(1) == pickle.PROTO


def _weights(index: Path) -> dict[str, Any] | None:
    """The file by tensor; None where it is an index of something else."""
    try:
        weights = _json(index).get("weight_map")
    except Damaged:
        return {} if index.name.startswith(("model.", "pytorch_model.")) else None
    return weights if isinstance(weights, dict) else None


def _is_data(name: str) -> bool:
    return name.endswith((*ARCHIVES, ".safetensors")) and not name.startswith(".part-")


def chosen(root: Path, now: float, settled_s: float) -> list[Checkpoint]:
    """The newest of each run that wrote lately, and the newest of all; newest first. Of a file, with what lies beside
    it. What was written less than so many seconds ago is left out."""
    newest: dict[str, Checkpoint] = {}
    files: dict[Path, list[Checkpoint]] = {}
    for found in checkpoints(root):
        if found.kind == "unfinished" or now - found.written < settled_s:
            continue
        if found.kind == "file":
            files.setdefault(found.path.parent, []).append(found)
        run = (found.path.relative_to(root).parts or (".",))[0]  # one right at the root is a run of its own
        if run not in newest or found.written > newest[run].written:
            newest[run] = found
    ordered = sorted(newest.values(), key=lambda found: -found.written)
    lately = [found for index, found in enumerate(ordered) if index == 0 or now - found.written < RECENT_S]
    # A file right at the root is a run of its own, so that nothing lies beside it.
    saves = [found for found in lately if found.kind == "file" and found.path.parent != root]
    together = {*lately, *(each for found in saves for each in _last_of_each_name(files[found.path.parent]))}
    return sorted(together, key=lambda found: -found.written)


def _last_of_each_name(files: Sequence[Checkpoint]) -> Iterator[Checkpoint]:
    """Files of a folder, but for those after which a later save wrote another whose name differs in digits alone."""
    last: dict[str, float] = {}
    for each in files:
        last[_series(each)] = max(last.get(_series(each), 0), each.written)
    for each in files:
        if last[_series(each)] - each.written < SETTLED_S:  # ranks and shards of a save are about as old as each other
            yield each


def _series(found: Checkpoint) -> str:
    return re.sub("[0-9]+", "#", found.path.name)


def examine(found: Checkpoint, budget: _Budget) -> None:
    """Raises Damaged where it is not what it says it is."""
    try:
        if found.kind == "manifest":
            _manifest(found.path, budget)
        elif found.kind == "dcp":
            _dcp(found.path)
        elif found.kind == "index":
            _index(found.path, budget)
        else:
            _file(found.path, budget)
    except OSError as error:
        raise Damaged(f"{error.filename or found.path}: {error.strerror or error}") from None


def _manifest(folder: Path, budget: _Budget) -> None:
    told = _json(folder / MANIFEST)
    files = told.get("files")
    if not isinstance(files, dict) or not files:
        raise Damaged(f"{folder / MANIFEST} names no files")
    for name, words in files.items():
        path = _inside(folder, name)
        if not isinstance(words, dict) or not isinstance(words.get("size"), int):
            raise Damaged(f"{folder / MANIFEST} says no size of {name}")
        _long(path, words["size"], exactly=True)
        if isinstance(words.get("sha256"), str) and budget.take(words["size"]) and _sha256(path) != words["sha256"]:
            raise Damaged(f"{path} has another sha256 than {MANIFEST} says")


def _dcp(folder: Path) -> None:
    """Every file is there, and as long as the last of its parts says."""
    path = folder / METADATA
    if path.stat().st_size > LARGEST_METADATA:
        raise Damaged(f"{path} is larger than {LARGEST_METADATA >> 20} MiB")
    ends: dict[str, int] = {}
    for words in _storage(_taken_apart(path)):
        name, offset, length = (words.get(key) for key in ("relative_path", "offset", "length"))
        if not isinstance(name, str) or not isinstance(offset, int) or not isinstance(length, int):
            raise Damaged(f"{path} has a part without a file, an offset or a length")
        ends[name] = max(ends.get(name, 0), offset + length)
    if not ends:
        raise Damaged(f"{path} names no files")
    for name, end in sorted(ends.items()):
        _long(_inside(folder, name), end, exactly=False)


class _StandIn:
    """Takes the place of whatever a pickle names: it keeps what it is given and does nothing."""

    given: tuple[Any, ...]
    words: dict[str, Any]

    def __new__(cls, *given: Any, **_more: Any) -> _StandIn:
        """A pickle may make one without `__init__`."""
        made = super().__new__(cls)
        made.given, made.words = given, {}
        return made

    def __init__(self, *given: Any, **more: Any) -> None:
        """Nothing more; with it, `object` lets `__new__` take what it is given."""

    def __setstate__(self, state: Any) -> None:
        for part in state if isinstance(state, tuple) else (state,):
            if isinstance(part, dict):
                self.words.update(part)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def append(self, item: Any) -> None:
        """As a pickle fills a list."""
        self.given = (*self.given, item)

    def extend(self, items: Iterable[Any]) -> None:
        """As a pickle fills a list at once."""
        self.given = (*self.given, *items)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.given = (*self.given, value)


class _Apart(pickle.Unpickler):
    """Names nothing that exists, so that nothing of it can be called."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ARG002
        """A stand-in, whatever is asked for."""
        return type("StandIn", (_StandIn,), {"named": name})

    def persistent_load(self, pid: Any) -> Any:  # noqa: ARG002
        """A stand-in for what lies beside the pickle."""
        return _StandIn()


def _taken_apart(path: Path) -> Any:
    try:
        return _Apart(io.BytesIO(path.read_bytes())).load()
    except OSError:
        raise
    except Exception as error:  # a damaged pickle raises anything
        raise Damaged(f"{path} cannot be taken apart: {type(error).__name__}") from None


def _storage(metadata: Any) -> Iterator[Mapping[str, Any]]:
    words = getattr(metadata, "words", {})
    storage = words.get("storage_data")
    if not isinstance(storage, dict):
        return
    for info in storage.values():
        yield getattr(info, "words", {})


def _index(folder: Path, budget: _Budget) -> None:
    """What it names, and what lies beside that: the optimizer's state is in no index."""
    named: set[Path] = set()
    for path in sorted(folder.glob(f"*{INDEX}")):
        weights = _weights(path)
        if weights is None:
            continue
        if not weights:
            raise Damaged(f"{path} names no files")
        named |= {_inside(folder, str(name)) for name in weights.values()}
    beside = {path for path in folder.iterdir() if _is_data(path.name) and path.is_file() and not path.is_symlink()}
    for path in sorted(named | beside):
        _file(path, budget)


def _file(path: Path, budget: _Budget) -> None:
    if path.suffix == ".safetensors":
        _safetensors(path)
    else:
        _archive(path, budget)


def _safetensors(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as stream:
        begin = stream.read(8)
        length = struct.unpack("<Q", begin)[0] if len(begin) == 8 else 0
        if not 2 <= length <= min(LARGEST_HEADER, size - 8):
            raise Damaged(f"{path} has no header")
        try:
            header = json.loads(stream.read(length))
            ends = [words["data_offsets"][1] for name, words in header.items() if name != "__metadata__"]
            end = max(ends, default=0)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            raise Damaged(f"{path} has a header that cannot be read") from None
    _long(path, 8 + length + end, exactly=True)


def _archive(path: Path, budget: _Budget) -> None:
    """An archive of torch's; an older one is a bare pickle, of which only torch can say more."""
    if path.stat().st_size == 0:
        raise Damaged(f"{path} is empty")
    with path.open("rb") as stream:
        begin = stream.read(4)
    if not begin.strip(b"\0"):
        raise Damaged(f"{path} begins with zeros: it was made, and not written")
    if begin[:1] != pickle.PROTO and begin[:2] != b"PK":
        return  # some other program's
    if begin[:2] == b"PK":
        try:
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
                if not any(name.endswith("data.pkl") for name in names):
                    raise Damaged(f"{path} is an archive without data.pkl")
                wrong = archive.testzip() if budget.take(path.stat().st_size) else None
        except (zipfile.BadZipFile, EOFError, NotImplementedError, struct.error) as error:
            raise Damaged(f"{path} is cut or damaged: {error}") from None
        if wrong is not None:
            raise Damaged(f"{path} has another checksum in {wrong}")
        if any(name.endswith("constants.pkl") for name in names):
            return  # a program of TorchScript's, which torch loads in no other way than to run it
    _with_torch(path, mapped=begin[:2] == b"PK")


def _with_torch(path: Path, *, mapped: bool) -> None:
    """Loads it, tensors and plain values alone, where torch is installed; elsewhere nothing.

    One that cannot be mapped is loaded where it fits into the pod's memory.
    """
    if not mapped and path.stat().st_size > LARGEST_LOADED:
        return
    try:
        import torch
    except ImportError:
        return
    try:
        torch.load(path, map_location="cpu", mmap=mapped, weights_only=True)
    except pickle.UnpicklingError:
        return  # it has classes of the team's own, which nobody runs here
    except Exception as error:  # a damaged file raises anything
        raise Damaged(f"{path} cannot be loaded: {type(error).__name__}") from None


def _json(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_bytes())
    except ValueError:
        raise Damaged(f"{path} is no JSON") from None
    if not isinstance(told, dict):
        raise Damaged(f"{path} is no JSON object")
    return told


def _inside(folder: Path, name: str) -> Path:
    """A file that a checkpoint names, which lies in its folder."""
    path = folder / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise Damaged(f"{folder} names a file outside of it")
    return path


def _long(path: Path, size: int, *, exactly: bool) -> None:
    """It is there, has that length, and its last byte can be read."""
    try:
        is_ = path.stat().st_size
    except FileNotFoundError:
        raise Damaged(f"{path} is missing") from None
    if is_ < size or (exactly and is_ != size):
        raise Damaged(f"{path} has {is_} bytes in place of {'' if exactly else 'at least '}{size}")
    if is_:
        with path.open("rb") as stream:
            stream.seek(is_ - 1)
            if len(stream.read(1)) != 1:
                raise Damaged(f"{path} cannot be read to its end")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def look(root: Path, now: float, younger_than_hours: float | None) -> tuple[int, dict[str, Any]]:
    """The exit code and what is told."""
    try:
        found = chosen(root, now, SETTLED_S if younger_than_hours is None else 0)
    except OSError as error:
        return DAMAGED, {"reason": f"{error.filename}: {error.strerror}"}
    if not found and younger_than_hours is not None:
        return OLD, {"reason": "there is no checkpoint"}
    if not found:
        return FOUND, {"reason": "there is no checkpoint to look at", "looked_at": 0}
    age = round((now - found[0].written) / 3600, 1)
    told = {"newest": str(found[0].path.relative_to(root)), "age_hours": age}
    if younger_than_hours is not None:
        if age > younger_than_hours:
            return OLD, told | {"reason": f"the newest checkpoint is {age} hours old, over {younger_than_hours:g}"}
        return FOUND, told
    budget, harmed = _Budget(READ_AT_MOST), []
    for each in found:
        try:
            examine(each, budget)
        except Damaged as error:
            harmed.append((each, str(error)))
    if harmed:
        time.sleep(GONE_S)
    damaged = [why for each, why in harmed if each.stands]
    told |= {"looked_at": len(found), "by_length_alone": budget.skipped}
    return (DAMAGED, told | {"reason": "; ".join(damaged)}) if damaged else (FOUND, told)


def main(arguments: list[str] | None = None) -> int:
    """Looks at the folder that the command line names, and tells the verdict."""
    parser = argparse.ArgumentParser(prog="look")
    parser.add_argument("folder", help="where the team's checkpoints are mounted")
    parser.add_argument("--younger-than-hours", type=float, help="ask how old the newest is, and nothing else")
    parsed = parser.parse_args(arguments)
    code, told = look(Path(parsed.folder), time.time(), parsed.younger_than_hours)
    verdict = {FOUND: "sound", DAMAGED: "damaged", OLD: "old"}[code]
    print(json.dumps({"checkpoints": verdict, "folder": parsed.folder, **told}), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
