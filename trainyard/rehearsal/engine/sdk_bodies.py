"""Bodies of classes in generated modules, which are read one by one from what is kept of the module's byte code.

The byte code of `pulumi_kubernetes.core.v1._inputs` is 2.6 MB for 728 classes, of which a stack uses ten. Python reads
all of it, and has all of it in memory while the classes wait for somebody to ask for them
(`rehearsal/engine/sdk_classes.py`): a tenth of what a cold rehearsal of `demo` needed in all its processes
(2026-11-27). So such a module is kept a second time in `__pycache__`: its own code, in which a stub stands for the
bodies of its classes, with a table of where they lie, and behind it the bodies.

What is kept goes by what Python's own byte code goes by: the source's place, time and size, the version of Python and
the level of optimisation.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import marshal
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from types import CodeType
from typing import Any, Final, TypeGuard

from trainyard.catalog.kept import keep

_FORM: Final = 1
"""Another one whenever the same module is kept in another way."""

_KEPT_APART: Final = ("its body is kept apart",)
"""The constants of a stub."""

_NOTHING: Final = compile("", "", "exec").co_code
"""Is never run."""

_DIGEST: Final = 16
_HEAD: Final = struct.Struct(f">{_DIGEST}sII")
"""What a kept file begins with: of which source it is, then the length of the module's own code with its table, and the
checksum of these."""

_Where = tuple[int, int, int]
"""Where a body begins behind the module's own code, how many bytes it has, and their checksum."""


class Bodies:
    """The byte code of one generated module.

    Args:
        path: of its source.
        whole: gives its code as Python does, from byte code or from source.
    """

    def __init__(self, path: str, whole: Callable[[], CodeType]) -> None:
        self._path = path
        self._whole = whole
        self._begin = 0  # of the bodies in the file
        self._table: Mapping[str, _Where] = {}
        try:
            self._place: Path | None = Path(cache_from_source(path)).with_suffix(".bodies")
        except NotImplementedError:  # this Python keeps no byte code
            self._place = None

    def code(self) -> CodeType:
        """What to run for the module: with a stub for each body of a class, once these are kept."""
        key = self._key()
        with (
            suppress(OSError, MemoryError, struct.error),
            self._kept() as file,
        ):  # a damaged length may be that of any memory
            source, length, checksum = _HEAD.unpack(file.read(_HEAD.size))
            own = file.read(length) if source == key else b""
            if own and zlib.crc32(own) == checksum:
                self._begin = _HEAD.size + length
                code: CodeType
                code, self._table = marshal.loads(own)  # noqa: S302 - it lies where byte code lies
                return code
        whole = self._whole()
        if self._place is not None:
            keep(self._place, lambda: _apart(whole, key))
        return whole

    def of(self, code: CodeType, name: str) -> CodeType:
        """The body of the class of that name: what a stub stands for, or what is no stub."""
        if code.co_consts != _KEPT_APART:
            return code
        begin, length, checksum = self._table[name]
        with suppress(OSError), self._kept() as file:
            file.seek(self._begin + begin)
            kept = file.read(length)
            if zlib.crc32(kept) == checksum:
                body: CodeType = marshal.loads(kept)  # noqa: S302 - it lies where byte code lies
                return body
        return self._again(name)

    def _kept(self) -> io.FileIO:
        if self._place is None:
            raise FileNotFoundError
        return io.FileIO(self._place)

    def _again(self, name: str) -> CodeType:
        """A body that is not kept any more: somebody wrote the module anew, or cleared away what was kept."""
        found = _bodies(self._whole()).get(name)
        if found is None:
            raise ImportError(f"{self._path} was changed while it was in use: {name} is gone", path=self._path)
        return found

    def _key(self) -> bytes:
        """Tells the source from every other, and from what it was before."""
        stat = Path(self._path).stat()
        known = (_FORM, MAGIC_NUMBER, self._path, stat.st_mtime_ns, stat.st_size)
        return hashlib.blake2b(repr(known).encode(), digest_size=_DIGEST).digest()


def _apart(whole: CodeType, key: bytes) -> bytes:
    """What is kept: the head, a module's own code with a table of its bodies, and the bodies."""
    bodies = _bodies(whole)
    table: dict[str, _Where] = {}
    kept: list[bytes] = []
    begin = 0
    for name, body in bodies.items():
        kept.append(marshal.dumps(body))
        table[name] = begin, len(kept[-1]), zlib.crc32(kept[-1])
        begin += len(kept[-1])
    stubs: dict[tuple[Any, ...], CodeType] = {}  # few, since each is read whole
    consts = (
        _stub(found, stubs) if _is_body(found) and found.co_name in bodies else found for found in whole.co_consts
    )
    own = marshal.dumps((whole.replace(co_consts=tuple(consts)), table))
    return b"".join((_HEAD.pack(key, len(own), zlib.crc32(own)), own, *kept))


def _bodies(whole: CodeType) -> dict[str, CodeType]:
    """The bodies of a module's classes by their names, of which no two have the same."""
    found = [const for const in whole.co_consts if _is_body(const)]
    number = Counter(body.co_name for body in found)
    return {body.co_name: body for body in found if number[body.co_name] == 1}


def _is_body(found: Any) -> TypeGuard[CodeType]:
    """Whether a constant of a module is the body of a class that needs nothing but the module's names."""
    return isinstance(found, CodeType) and not found.co_flags & inspect.CO_OPTIMIZED and not found.co_freevars


def _stub(body: CodeType, stubs: dict[tuple[Any, ...], CodeType]) -> CodeType:
    """Stands for the body of a class, and for all that are of the same kind to a `class` statement."""
    kind = body.co_flags, body.co_cellvars
    if kind not in stubs:
        nothing = body.replace(co_consts=_KEPT_APART, co_names=(), co_linetable=b"", co_exceptiontable=b"")
        stubs[kind] = nothing.replace(co_code=_NOTHING)
    return stubs[kind]
