"""Distributed checkpoints on a tier, whole or not there.

A checkpoint is a folder `step-00000010/`: one blob of data a rank and DCP's metadata, then `manifest.json` with size
and sha256 of each, and last of all the pointer `latest.json` beside the folders. A checkpoint counts only if its
manifest is there and every byte agrees with it; otherwise it is refused, with the reason, and the one before is taken.
torch.distributed.checkpoint plans who writes what (a tensor that all ranks hold is written once); the writer and the
reader here carry the bytes to and from the tier without a local copy. A tensor lies in its blob as it lies in memory:
torch.save would copy it three times and reckon a CRC of it besides the sha256, which made a fast tier look slow (1 GiB
from an H200 took 6.2 s, on 2026-11-26).
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import re
from collections.abc import Iterable
from concurrent.futures import Future as Pending
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.checkpoint import state_dict_loader, state_dict_saver
from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex
from torch.distributed.checkpoint.planner import (
    LoadItemType,
    LoadPlan,
    LoadPlanner,
    SavePlan,
    SavePlanner,
)
from torch.distributed.checkpoint.storage import StorageReader, StorageWriter, WriteResult
from torch.futures import Future

from .tier import Missing, Tier

MANIFEST, METADATA, POINTER = "manifest.json", "metadata", "latest.json"


class Refused(Exception):  # noqa: N818 - a verdict on a checkpoint
    """A checkpoint is not whole; the text says which file and why."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Where one item lies, what its whole file must be like, and what the bytes of a tensor are."""

    file: str
    offset: int
    length: int
    file_size: int
    file_sha256: str
    dtype: torch.dtype | None = None  # None: no tensor
    shape: tuple[int, ...] = ()


def folder_name(step: int) -> str:
    """`step-00000010`: sorts by step."""
    return f"step-{step:08d}"


class TierWriter(StorageWriter):
    """Writes one checkpoint to a tier; `rank` names this rank's blob, so it differs on every rank of the save."""

    def __init__(self, tier: Tier, step: int, rank: int) -> None:
        self.tier = tier
        self.step = step
        self.folder = folder_name(step)
        self._rank = rank  # torch 2.7 does not tell it to set_up_storage_writer, 2.13 does

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """DCP calls it before each save; nothing is kept from one to the next."""

    def set_up_storage_writer(self, is_coordinator: bool, *_args: Any, **_kwargs: Any) -> None:
        """The coordinator removes the manifest of an earlier attempt at this step: it would vouch for our bytes."""
        if is_coordinator:
            self.tier.delete(f"{self.folder}/{MANIFEST}")

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """As planned."""
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """As planned."""
        return plans

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """One blob with all items of this rank."""
        items = [(item.index, planner.resolve_data(item)) for item in plan.items]
        results: list[WriteResult] = []
        if items:
            share = torch.empty(sum(_length(data) for _, data in items), dtype=torch.uint8)
            spans: list[tuple[MetadataIndex, int, int, tuple[torch.dtype | None, tuple[int, ...]]]] = []
            start = 0
            for index, data in items:
                length = _length(data)
                _lay(data, share[start : start + length])
                kind = (None, ()) if isinstance(data, io.BytesIO) else (data.dtype, tuple(data.shape))
                spans.append((index, start, length, kind))
                start += length
            blob = share.numpy().data
            name = f"rank-{self._rank:05d}"
            with ThreadPoolExecutor(1) as beside:  # both let go of the interpreter for as long as they work
                hashing = beside.submit(hashlib.sha256, blob)
                self.tier.put(f"{self.folder}/{name}", blob)
                digest = hashing.result().hexdigest()
            results = [
                WriteResult(index, length, Extent(name, start, length, len(blob), digest, *kind))
                for index, start, length, kind in spans
            ]
        done: Future[list[WriteResult]] = Future()
        done.set_result(results)
        return done

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """On the coordinator, after all ranks wrote: metadata, manifest, pointer, in this order."""
        extents = {written.index: written.storage_data for share in results for written in share}
        metadata.storage_data = extents
        blob = pickle.dumps(metadata)
        files = {e.file: {"size": e.file_size, "sha256": e.file_sha256} for e in extents.values()}
        files[METADATA] = {"size": len(blob), "sha256": hashlib.sha256(blob).hexdigest()}
        manifest = json.dumps({"step": self.step, "files": files}, sort_keys=True).encode()
        self.tier.put(f"{self.folder}/{METADATA}", blob)
        self.tier.put(f"{self.folder}/{MANIFEST}", manifest)
        pointer = {"step": self.step, "manifest_sha256": hashlib.sha256(manifest).hexdigest()}
        self.tier.put(POINTER, json.dumps(pointer).encode())

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:  # noqa: ARG003
        """The tier and the step are given to the constructor; DCP's own ids are not used."""
        return False


def _length(data: torch.Tensor | io.BytesIO) -> int:
    """The bytes of an item."""
    if isinstance(data, io.BytesIO):
        return data.getbuffer().nbytes
    return data.numel() * data.element_size()


def _lay(data: torch.Tensor | io.BytesIO, place: torch.Tensor) -> None:
    """Copies an item into its place in the blob. A tensor of a GPU goes there at once: a copy of each beside the blob
    would take the memory of a rank's share twice."""
    if isinstance(data, io.BytesIO):
        place.numpy().data[:] = data.getbuffer()
    else:
        place.copy_(data.detach().contiguous().reshape(-1).view(torch.uint8))


def _tensor_of(part: memoryview, extent: Extent) -> torch.Tensor:
    """The tensor that lies in its blob."""
    assert extent.dtype is not None, "an item that is planned as a tensor was written as one"
    if not len(part):
        return torch.empty(extent.shape, dtype=extent.dtype)
    return torch.frombuffer(bytearray(part), dtype=extent.dtype).reshape(extent.shape)


class TierReader(StorageReader):
    """Reads one checkpoint; every blob is compared with the manifest before an item of it is used."""

    def __init__(self, tier: Tier, step: int) -> None:
        self.tier = tier
        self.folder = folder_name(step)
        self.manifest = read_manifest(tier, step)
        self._extents: dict[MetadataIndex, Extent] = {}

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """DCP calls it before each load; nothing is kept from one to the next."""

    def read_metadata(self, *_args: Any, **_kwargs: Any) -> Metadata:
        """DCP's metadata; raises Refused."""
        # Unpickled only after its hash agreed with the manifest that the same job wrote.
        metadata: Metadata = pickle.loads(fetch(self.tier, self.folder, METADATA, self.manifest))  # noqa: S301
        return metadata

    def set_up_storage_reader(self, metadata: Metadata, *_args: Any, **_kwargs: Any) -> None:
        """Takes the table of items."""
        self._extents = metadata.storage_data

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """As planned, by file, so that each blob is fetched once."""
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """As planned."""
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Fills the tensors of the plan; raises Refused."""
        by_file = sorted(plan.items, key=lambda item: self._extents[item.storage_index].file)
        current, blob = "", b""
        for item in by_file:
            extent = self._extents[item.storage_index]
            if extent.file != current:
                current, blob = extent.file, fetch(self.tier, self.folder, extent.file, self.manifest)
            part = memoryview(blob)[extent.offset : extent.offset + extent.length]
            if item.type == LoadItemType.BYTE_IO:
                planner.load_bytes(item, io.BytesIO(part))
                continue
            tensor = _tensor_of(part, extent)
            for dimension, (offset, length) in enumerate(zip(item.storage_offsets, item.lengths, strict=True)):
                tensor = tensor.narrow(dimension, offset, length)
            target = planner.resolve_tensor(item).detach()
            target.copy_(tensor)
            planner.commit_tensor(item, target)
        done: Future[None] = Future()
        done.set_result(None)
        return done

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:  # noqa: ARG003
        """See TierWriter."""
        return False


def read_manifest(tier: Tier, step: int) -> dict[str, Any]:
    """The manifest of a step; raises Refused."""
    name = f"{folder_name(step)}/{MANIFEST}"
    try:
        manifest = json.loads(tier.get(name))
        if manifest["step"] == step and manifest["files"].keys():
            return dict(manifest)
    except Missing:
        raise Refused(f"{folder_name(step)}: no manifest, so it was not finished") from None
    except (ValueError, KeyError, TypeError):
        raise Refused(f"{name} is damaged") from None
    raise Refused(f"{name} belongs to another step")


def fetch(tier: Tier, folder: str, file: str, manifest: dict[str, Any]) -> bytes:
    """A blob that agrees with the manifest; raises Refused."""
    wanted = manifest["files"].get(file)
    if wanted is None:
        raise Refused(f"{folder}/{file} is not in the manifest")
    try:
        blob = tier.get(f"{folder}/{file}")
    except Missing:
        raise Refused(f"{folder}/{file} is missing") from None
    if len(blob) != wanted["size"]:
        raise Refused(f"{folder}/{file} has {len(blob)} bytes, the manifest says {wanted['size']}: cut short")
    if hashlib.sha256(blob).hexdigest() != wanted["sha256"]:
        raise Refused(f"{folder}/{file}: sha256 differs from the manifest: damaged")
    return blob


@dataclass(slots=True)
class Found:
    """The newest whole checkpoint (None: there is none), and the newer ones that were refused, with the reason."""

    step: int | None
    refused: list[str] = field(default_factory=list)


def newest_whole(tier: Tier, group: dist.ProcessGroup | None = None) -> Found:
    """Looks from the newest to the oldest; the ranks of `group` (default: this process alone) share the reading.

    The pointer is a hint for people and tools; the search trusts only manifests and bytes, since the job may have
    died between the two.
    """
    rank = dist.get_rank(group) if group is not None else 0
    ranks = dist.get_world_size(group) if group is not None else 1
    found = Found(None)
    # One listing for all: ranks that list at different times may see different checkpoints.
    steps = _broadcast(steps_on(tier) if rank == 0 else [], group)
    for step in sorted(steps, reverse=True):
        reasons: list[str] = []
        try:
            manifest = read_manifest(tier, step)
            for file in sorted(manifest["files"])[rank::ranks]:
                fetch(tier, folder_name(step), file, manifest)
        except Refused as refusal:
            reasons.append(str(refusal))
        if group is not None:
            shared: list[list[str]] = [[] for _ in range(ranks)]
            dist.all_gather_object(shared, reasons, group=group)
            reasons = list(dict.fromkeys(reason for one in shared for reason in one))
        if not reasons:
            found.step = step
            return found
        found.refused.append("; ".join(reasons))
    return found


def _broadcast(value: Any, group: dist.ProcessGroup | None) -> Any:
    if group is None:
        return value
    values = [value]
    dist.broadcast_object_list(values, group=group, group_src=0)
    return values[0]


def steps_on(tier: Tier) -> list[int]:
    """Steps that have any file on the tier, finished or not."""
    matches = (re.match(r"step-(\d{8})/", name) for name in tier.sizes("step-"))
    return sorted({int(match[1]) for match in matches if match})


def save(flat: dict[str, Any], tier: Tier, step: int, group: dist.ProcessGroup | None = None) -> None:
    """A synchronous save by all ranks of `group`; raises DCP's CheckpointException with the ranks' TierErrors."""
    state_dict_saver.save(flat, storage_writer=TierWriter(tier, step, _rank(group)), process_group=group)


def save_behind(flat: dict[str, Any], tier: Tier, step: int, group: dist.ProcessGroup | None) -> Pending[Any]:
    """An asynchronous save; `flat` is copied before this returns. `group` must be used by nothing else meanwhile."""
    writer = TierWriter(tier, step, _rank(group))
    started = state_dict_saver.async_save(flat, storage_writer=writer, process_group=group)
    assert isinstance(started, Pending)  # the other kind comes only with a stager of one's own
    return started


def _rank(group: dist.ProcessGroup | None) -> int:
    """Our rank among those that save together, as DCP takes them: no group is all ranks, or this process alone."""
    return dist.get_rank(group) if dist.is_initialized() else 0


def restore(flat: dict[str, Any], tier: Tier, step: int, group: dist.ProcessGroup | None = None) -> None:
    """Fills the tensors of `flat` in place, by all ranks of `group`; raises Refused (DCP wraps it) on damage."""
    state_dict_loader.load(flat, storage_reader=TierReader(tier, step), process_group=group)


def prune(tier: Tier, keep: int) -> None:
    """Keeps the newest `keep` steps; the manifest goes first, so that what is left of a step never counts."""
    for step in steps_on(tier)[:-keep]:
        remove(tier, step)


def remove(tier: Tier, step: int) -> None:
    """Removes one checkpoint."""
    tier.delete(f"{folder_name(step)}/{MANIFEST}")
    for name in _names(tier.sizes(f"{folder_name(step)}/")):
        tier.delete(name)


def _names(sizes: dict[str, int]) -> Iterable[str]:
    return sorted(sizes)
