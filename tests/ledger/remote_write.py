"""Samples as Prometheus takes them over HTTP: its remote write protocol 1.0, a message of protocol buffers in Snappy.

Written by hand because no client library is needed elsewhere: Snappy's blocks may consist of literals alone.
(prometheus.io/docs/specs/remote_write_spec, google/snappy format_description.txt; 2026-11.)
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

_LONGEST_LITERAL = 1 << 16


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def encoded_labels(metric: str, labels: Mapping[str, str]) -> bytes:
    """The labels of a series, which come in the order of their names."""
    pairs = sorted({"__name__": metric, **labels}.items())
    return b"".join(_field(1, _field(1, key.encode()) + _field(2, value.encode())) for key, value in pairs if value)


@cache
def _at(moment: int) -> bytes:
    """A moment, which hundreds of series have one sample of, in seconds."""
    return b"\x10" + _varint(moment * 1000)


def encoded_samples(samples: Iterable[tuple[int, float]]) -> bytes:
    """Moments, seconds, with what the series was then."""
    return b"".join(_field(2, b"\x09" + struct.pack("<d", value) + _at(at)) for at, value in samples)


def _snappy(text: bytes) -> bytes:
    found = bytearray(_varint(len(text)))
    for start in range(0, len(text), _LONGEST_LITERAL):
        part = text[start : start + _LONGEST_LITERAL]
        found += bytes([61 << 2]) + struct.pack("<H", len(part) - 1) + part
    return bytes(found)


HEADERS = {
    "Content-Encoding": "snappy",
    "Content-Type": "application/x-protobuf",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
"""Of a request that hands samples over."""


def message(series: Iterable[tuple[bytes, Sequence[tuple[int, float]]]]) -> bytes:
    """The body of such a request: series, each with its encoded labels."""
    return _snappy(b"".join(_field(1, labels + encoded_samples(samples)) for labels, samples in series))
