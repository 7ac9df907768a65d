"""The look at teams' checkpoints: what is sound passes, each way to be damaged is told, and nothing of them is run."""

import errno
import hashlib
import io
import json
import os
import pickle
import shutil
import struct
import sys
import time
import zipfile
from pathlib import Path

import pytest

from trainyard.smoke_jobs.drill import look
from trainyard.smoke_jobs.drill.exits import DAMAGED, FOUND, OLD


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(look, "GONE_S", 0)


class Harmful:
    """Leaves a trace where it is unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return (Path.touch, (self.trace,))


def manifest(folder, **more):
    folder.mkdir(parents=True)
    files = {}
    for name in ("rank-00000", "rank-00001"):
        blob = os.urandom(5000)
        (folder / name).write_bytes(blob)
        files[name] = {"size": len(blob), "sha256": hashlib.sha256(blob).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps({"step": 1, "files": files | more}))
    return folder / "rank-00001"


def safetensors(path, size=4096):
    path.parent.mkdir(parents=True, exist_ok=True)
    header = json.dumps(
        {"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}
    ).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + os.urandom(size))
    return path


def indexed(folder):
    weights = {f"w{shard}": safetensors(folder / f"model-{shard}.safetensors").name for shard in range(3)}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
    return folder / "model-1.safetensors"


def archive(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as written:
        written.writestr("archive/data.pkl", pickle.dumps({}))
        written.writestr("archive/data/0", os.urandom(4096))
    return path


def distributed(folder):
    torch = pytest.importorskip("torch")
    from torch.distributed.checkpoint import FileSystemWriter, save

    state = {"model": {f"layer{index}": torch.rand(64, 64) for index in range(4)}, "step": 7}
    save(state, storage_writer=FileSystemWriter(folder, thread_count=2), no_dist=True)
    return next(folder.glob("*.distcp"))


def saved_by_torch(path):
    torch = pytest.importorskip("torch")
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"model": {"w": torch.rand(64, 64)}, "step": 3}, path)
    return path


KINDS = {
    "manifest": lambda root: manifest(root / "run" / "step-1"),
    "distributed": lambda root: distributed(root / "run" / "step-1"),
    "safetensors": lambda root: safetensors(root / "run" / "model.safetensors"),
    "indexed": lambda root: indexed(root / "run"),
    "torch": lambda root: saved_by_torch(root / "run" / "last.ckpt"),
}


def aged(root, hours):
    for path in root.rglob("*"):
        os.utime(path, (time.time() - hours * 3600,) * 2)


def told(root, capsys, *arguments):
    code = look.main([str(root), *arguments])
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.fixture(params=["with torch", "without torch"])
def torch_or_not(request, monkeypatch):
    if request.param == "without torch":
        monkeypatch.setitem(sys.modules, "torch", None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sound_checkpoint_passes(kind, tmp_path, capsys, torch_or_not):
    KINDS[kind](tmp_path)
    aged(tmp_path, 2)
    code, found = told(tmp_path, capsys)
    assert (code, found["checkpoints"], found["looked_at"]) == (FOUND, "sound", 1), found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("harm", ["cut", "missing"])
@pytest.mark.parametrize("there", [True, False], ids=["with torch", "without torch"])
def test_a_file_that_is_cut_or_gone_is_told(kind, harm, there, tmp_path, capsys, monkeypatch):
    shard = KINDS[kind](tmp_path)
    if harm == "cut":
        shard.write_bytes(shard.read_bytes()[: shard.stat().st_size // 2])
    elif kind in ("safetensors", "torch"):
        pytest.skip("it is the whole checkpoint")
    else:
        shard.unlink()
    aged(tmp_path, 2)
    if not there:
        monkeypatch.setitem(sys.modules, "torch", None)
    code, found = told(tmp_path, capsys)
    assert code == DAMAGED and shard.name in found["reason"]


@pytest.mark.parametrize("kind", ["manifest", "torch"])
def test_one_changed_byte_is_told_where_there_is_a_checksum(kind, tmp_path, capsys, torch_or_not):
    shard = KINDS[kind](tmp_path)
    blob = bytearray(shard.read_bytes())
    blob[len(blob) // 2] ^= 1
    shard.write_bytes(blob)
    aged(tmp_path, 2)
    assert told(tmp_path, capsys)[0] == DAMAGED


def test_nothing_of_a_checkpoint_is_run(tmp_path, capsys, torch_or_not):
    trace = tmp_path / "drill" / "trace"
    trace.parent.mkdir()
    for place in ("a/.metadata", "b/old.pt", "c/last.pt"):
        (tmp_path / place).parent.mkdir()
    (tmp_path / "a" / ".metadata").write_bytes(pickle.dumps(Harmful(trace)))
    (tmp_path / "b" / "old.pt").write_bytes(pickle.dumps(Harmful(trace)))
    with zipfile.ZipFile(tmp_path / "c" / "last.pt", "w") as written:
        written.writestr("archive/data.pkl", pickle.dumps(Harmful(trace)))
        written.writestr("archive/version", "3\n")
    aged(tmp_path, 2)
    code, found = told(tmp_path, capsys)
    assert not trace.exists()
    assert code == DAMAGED and "names no files" in found["reason"], "the first says of no tensor where it is"


def test_metadata_that_are_cut_are_told(tmp_path, capsys):
    distributed(tmp_path / "run")
    path = tmp_path / "run" / ".metadata"
    path.write_bytes(path.read_bytes()[:-20])
    aged(tmp_path, 2)
    code, found = told(tmp_path, capsys)
    assert code == DAMAGED and "taken apart" in found["reason"]


def test_a_save_that_was_cut_short_is_not_the_newest(tmp_path, capsys):
    manifest(tmp_path / "run" / "step-1")
    aged(tmp_path, 30)
    for name in ("__0_0.distcp", "__1_0.distcp"):
        path = tmp_path / "run" / "step-2" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
        os.utime(path, (time.time() - 3600,) * 2)
    code, found = told(tmp_path, capsys)
    assert code == FOUND and found["newest"] == "run/step-1"


def test_what_is_being_written_is_left_alone(tmp_path, capsys):
    manifest(tmp_path / "run" / "step-1")
    aged(tmp_path, 3)
    cut = manifest(tmp_path / "run" / "step-2")
    cut.write_bytes(b"")
    assert told(tmp_path, capsys)[0] == FOUND


def test_each_run_that_wrote_lately_is_looked_at(tmp_path, capsys):
    damaged = manifest(tmp_path / "slow" / "step-1")
    damaged.write_bytes(b"")
    aged(tmp_path, 100)
    manifest(tmp_path / "quick" / "step-1")
    aged(tmp_path / "quick", 1)
    code, found = told(tmp_path, capsys)
    assert (code, found["looked_at"], found["newest"]) == (DAMAGED, 2, "quick/step-1")
    aged(tmp_path / "slow", 10 * 24)
    assert told(tmp_path, capsys)[0] == FOUND, "who trained that knows by now"


@pytest.mark.parametrize("whole", [True, False], ids=["one file", "an index"])
@pytest.mark.parametrize("cut", ["model.safetensors", "optimizer.pt"])
def test_all_files_of_a_save_are_looked_at(whole, cut, tmp_path, capsys):
    """As a trainer of transformers leaves it: the smallest file comes last."""
    folder = tmp_path / "run" / "checkpoint-500"
    harmed = {
        "model.safetensors": safetensors(folder / "model.safetensors") if whole else indexed(folder),
        "optimizer.pt": saved_by_torch(folder / "optimizer.pt"),
    }[cut]
    saved_by_torch(folder / "training_args.bin")
    aged(tmp_path, 2)
    os.utime(folder / "training_args.bin", (time.time() - 3600,) * 2)
    assert told(tmp_path, capsys)[0] == FOUND
    harmed.write_bytes(harmed.read_bytes()[:1000])
    os.utime(harmed, (time.time() - 7200,) * 2)
    code, found = told(tmp_path, capsys)
    assert code == DAMAGED and harmed.name in found["reason"]


def test_what_a_later_save_took_the_place_of_is_not_looked_at(tmp_path, capsys):
    """A job was killed while it saved, and has saved since."""
    for epoch in (1, 2):
        saved_by_torch(tmp_path / "run" / f"epoch={epoch}.ckpt")
    (tmp_path / "run" / "epoch=1.ckpt").write_bytes(b"PK")
    aged(tmp_path, 2)
    code, found = told(tmp_path, capsys)
    assert code == DAMAGED and "epoch=1.ckpt" in found["reason"], "written at once, as ranks are"
    os.utime(tmp_path / "run" / "epoch=1.ckpt", (time.time() - 3 * 3600,) * 2)
    code, found = told(tmp_path, capsys)
    assert (code, found["newest"], found["looked_at"]) == (FOUND, "run/epoch=2.ckpt", 1)


@pytest.mark.parametrize("make", [indexed, distributed], ids=["indexed", "distributed"])
def test_a_checkpoint_right_at_the_root_is_a_run(make, tmp_path, capsys):
    """As a job leaves it whose output folder is the mount itself."""
    shard = make(tmp_path)
    aged(tmp_path, 2)
    code, found = told(tmp_path, capsys)
    assert (code, found["newest"], found["looked_at"]) == (FOUND, ".", 1), found
    shard.unlink()
    aged(tmp_path, 2)
    code, found = told(tmp_path, capsys)
    assert code == DAMAGED and shard.name in found["reason"]


def test_the_platforms_own_and_links_are_not_looked_at(tmp_path, capsys):
    manifest(tmp_path / "team" / "drill" / "step-1").write_bytes(b"")
    elsewhere = manifest(tmp_path / "elsewhere" / "step-1")
    elsewhere.write_bytes(b"")
    (tmp_path / "team" / "link").symlink_to(elsewhere.parent)
    aged(tmp_path, 2)
    code, found = told(tmp_path / "team", capsys)
    assert (code, found["looked_at"]) == (FOUND, 0)


def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path, capsys):
    manifest(tmp_path / "run" / "step-1", **{"../../secret": {"size": 3}})
    aged(tmp_path, 2)
    code, found = told(tmp_path, capsys)
    assert code == DAMAGED and "outside" in found["reason"]


@pytest.mark.parametrize(("hours", "code"), [(5, FOUND), (30, OLD)])
def test_how_old_the_newest_is(hours, code, tmp_path, capsys):
    manifest(tmp_path / "run" / "step-1").write_bytes(b"damaged, which is not asked here")
    aged(tmp_path, hours)
    assert told(tmp_path, capsys, "--younger-than-hours", "24")[0] == code


def test_one_that_is_written_over_all_the_time_is_young(tmp_path, capsys):
    """It may be in the middle of a save, which matters to the look for damage alone."""
    manifest(tmp_path / "other" / "step-1")
    aged(tmp_path, 72)
    saved_by_torch(tmp_path / "run" / "last.ckpt")
    aged(tmp_path / "run", 0.1)
    code, found = told(tmp_path, capsys, "--younger-than-hours", "24")
    assert (code, found["newest"]) == (FOUND, "run/last.ckpt")
    assert told(tmp_path, capsys)[1]["newest"] == "other/step-1"


def test_who_has_saved_nothing_has_nothing_young(tmp_path, capsys):
    """Whether the team trains, the look cannot see: the alert asks for both."""
    code, found = told(tmp_path, capsys, "--younger-than-hours", "24")
    assert (code, found["checkpoints"], found["reason"]) == (OLD, "old", "there is no checkpoint")
    assert told(tmp_path, capsys)[0] == FOUND, "nothing is damaged"


def test_a_folder_that_cannot_be_read_is_told(tmp_path, capsys):
    code, found = told(tmp_path / "gone", capsys)
    assert code == DAMAGED and "gone" in found["reason"]


def test_what_is_too_much_to_read_is_compared_by_length(tmp_path, capsys, monkeypatch):
    shard = manifest(tmp_path / "run" / "step-1")
    monkeypatch.setattr(look, "READ_AT_MOST", 6000)
    aged(tmp_path, 2)
    code, found = told(tmp_path, capsys)
    assert (code, found["by_length_alone"]) == (FOUND, 1)
    with io.FileIO(shard, "ab") as stream:
        stream.write(b"more")
    aged(tmp_path, 2)
    assert told(tmp_path, capsys)[0] == DAMAGED


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_job_deletes_while_it_is_looked_at_is_not_damaged(kind, tmp_path, capsys, monkeypatch):
    """As `save_total_limit` does, file by file."""
    KINDS[kind](tmp_path)
    aged(tmp_path, 2)
    whole = look.examine

    def examine(found, budget):
        path = found.path
        if path.is_file():
            path.unlink()
        else:
            shutil.rmtree(path)
        whole(found, budget)

    monkeypatch.setattr(look, "examine", examine)
    assert told(tmp_path, capsys)[0] == FOUND


def test_what_a_job_writes_over_while_it_is_looked_at_is_not_damaged(tmp_path, capsys, monkeypatch):
    path = saved_by_torch(tmp_path / "run" / "last.ckpt")
    aged(tmp_path, 2)
    whole = look.examine

    def examine(found, budget):
        path.write_bytes(b"PK and no more yet")
        whole(found, budget)

    monkeypatch.setattr(look, "examine", examine)
    assert told(tmp_path, capsys)[0] == FOUND


def test_a_deletion_that_is_under_way_ends_before_damage_is_told(tmp_path, capsys, monkeypatch):
    manifest(tmp_path / "run" / "step-1").unlink()
    aged(tmp_path, 2)
    monkeypatch.setattr(look.time, "sleep", lambda _: shutil.rmtree(tmp_path / "run"))
    assert told(tmp_path, capsys)[0] == FOUND


@pytest.mark.parametrize("gone", ["run/step-1", "run/step-2", "run/model.safetensors"])
def test_what_goes_between_two_questions_is_left_out(gone, tmp_path, capsys, monkeypatch):
    for step in (1, 2):
        manifest(tmp_path / "run" / f"step-{step}")
    safetensors(tmp_path / "run" / "model.safetensors")
    safetensors(tmp_path / "kept" / "model.safetensors")
    aged(tmp_path, 2)
    whole = look._folders

    def folders(root):
        for folder, names in list(whole(root)):
            if folder == tmp_path / "run":
                path = tmp_path / gone
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            yield folder, names

    monkeypatch.setattr(look, "_folders", folders)
    assert told(tmp_path, capsys)[0] == FOUND


def test_a_folder_that_goes_before_it_is_listed_is_left_out(tmp_path, capsys, monkeypatch):
    manifest(tmp_path / "run" / "step-1")
    manifest(tmp_path / "kept" / "step-1")
    aged(tmp_path, 2)
    whole = Path.iterdir

    def iterdir(folder):
        if folder == tmp_path / "run":
            raise OSError(errno.ESTALE, "Stale file handle", str(folder))
        return whole(folder)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    code, found = told(tmp_path, capsys)
    assert (code, found["newest"]) == (FOUND, "kept/step-1")


def test_a_program_of_torchscripts_is_not_damaged(tmp_path, capsys):
    torch = pytest.importorskip("torch")
    path = tmp_path / "run" / "model.pt"
    path.parent.mkdir()
    torch.jit.save(torch.jit.script(torch.nn.Linear(32, 32)), path)
    aged(tmp_path, 2)
    assert told(tmp_path, capsys)[0] == FOUND
    path.write_bytes(path.read_bytes()[:-500])
    aged(tmp_path, 2)
    assert told(tmp_path, capsys)[0] == DAMAGED


def test_it_needs_the_standard_library_alone():
    text = Path(look.__file__).read_text()
    named = {line.split()[1].partition(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert named - {""} <= set(sys.stdlib_module_names)


def test_files_of_other_programs_are_no_checkpoints(tmp_path, capsys):
    for place, text in {
        "web/manifest.json": '{"files": ["index.html"]}',
        "table/.metadata": '{"schema": 1}',
        "faiss/vectors.index.json": '{"shards": 3}',
        "notes/broken.index.json": "no JSON",
        "data/tokens.bin": "raw",
    }.items():
        path = tmp_path / place
        path.parent.mkdir()
        path.write_text(text)
    aged(tmp_path, 2)
    code, found = told(tmp_path, capsys)
    assert code == FOUND, found
