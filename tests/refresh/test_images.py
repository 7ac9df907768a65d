"""Pinned images against a registry that answers as the OCI distribution specification says."""

import datetime

import pytest
import yaml
from typer.testing import CliRunner

from tests.refresh.oci_registry import serving
from tests.shared import ROOT
from trainyard.catalog import chart_pins, image_pins, pins, versions
from trainyard.cli.main import app
from trainyard.refresh import images as comparing
from trainyard.refresh import registry as asking
from trainyard.refresh import tables
from trainyard.refresh.images import State, compare, written
from trainyard.refresh.model import RefreshError
from trainyard.refresh.registry import NoSuchManifest, read_digest, reference

VERSIONS = ROOT / "trainyard" / "catalog" / "versions.yaml"
DAY = datetime.date(2026, 11, 30)
OTHER = "sha256:" + "0" * 64


@pytest.fixture
def registry():
    with serving() as served:
        yield served


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("python", ("docker.io", "library/python", "", "")),
        ("pytorch/pytorch:2.13.0", ("docker.io", "pytorch/pytorch", "2.13.0", "")),
        (f"public.ecr.aws/a/b:1@{OTHER}", ("public.ecr.aws", "a/b", "1", OTHER)),
        ("localhost:5000/x:y", ("localhost:5000", "x", "y", "")),
    ],
)
def test_an_image_is_read_as_a_container_runtime_reads_it(text, parts):
    found = reference(text)
    assert (found.registry, found.repository, found.tag, found.digest) == parts


@pytest.mark.parametrize(
    "text", ["", "UPPER/case", "a:b:c", "a@sha256:12", "a b", "../x:1", "a@", "evil.example/x?y:1"]
)
def test_what_is_no_image_is_told(text):
    with pytest.raises(RefreshError, match="is no image"):
        reference(text)


def test_only_this_machine_is_asked_without_tls():
    assert reference("127.0.0.1:5000/x:1").api == "http://127.0.0.1:5000"
    assert reference("localhost.evil.example/x:1").api == "https://localhost.evil.example"
    assert reference("python:3").api == "https://registry-1.docker.io"


def test_every_pin_of_the_catalogue_is_an_image_with_a_tag_and_what_was_read_with_a_digest():
    for pin in image_pins():
        assert reference(pin.image).tag, pin.name
        assert reference(pin.image).digest or pin.read is None, pin.name
    assert [(pin.name, pin.image) for pin in image_pins()] == list(pins().images)


def test_a_digest_that_was_never_read_says_so():
    for pin in image_pins():
        if pin.read is None and reference(pin.image).digest:
            assert "not checked against the registry" in pin.source, pin.name


def test_a_digest_is_read_with_a_token_for_everybody(registry):
    served, host = registry
    digest = served.put("ml/train", "1", "a")
    assert read_digest(reference(f"{host}/ml/train:1"), "1") == digest
    [first, token, again] = served.asked
    assert "Authorization" not in first[1] and "Authorization" not in token[1]
    assert again[1]["Authorization"] == "Bearer anonymous-token"
    assert "image.index" in first[1]["Accept"]


def test_a_header_that_says_otherwise_is_not_believed(registry):
    served, host = registry
    served.put("x", "1", "a")
    served.said_digest = OTHER
    with pytest.raises(RefreshError, match="the header of its answer says sha256:0000"):
        read_digest(reference(f"{host}/x:1"), "1")


def test_a_busy_registry_is_asked_again_and_not_for_ever(registry):
    served, host = registry
    digest, waits = served.put("x", "1", "a"), []
    served.trouble = [503, 429]
    assert read_digest(reference(f"{host}/x:1"), "1", waits.append) == digest
    assert len(waits) == 2 and all(0 <= wait <= asking.LONGEST_WAIT_SECONDS for wait in waits)
    served.trouble = [503] * 9
    with pytest.raises(RefreshError, match="answers with 503"):
        read_digest(reference(f"{host}/x:1"), "1", waits.append)
    assert len(served.trouble) == 9 - asking.ATTEMPTS


def test_a_silent_registry_a_private_one_and_a_missing_tag_are_told_apart(registry):
    served, host = registry
    with pytest.raises(RefreshError, match=r"127\.0\.0\.1:9 does not answer: .*refused"):
        read_digest(reference("127.0.0.1:9/x:1"), "1", lambda _: None)
    with pytest.raises(NoSuchManifest, match="the registry has no 1"):
        read_digest(reference(f"{host}/x:1"), "1")
    served.token = "of-somebody-else"
    with pytest.raises(RefreshError, match="shows it to nobody without an account"):
        read_digest(reference(f"{host}/x:1"), "1")


@pytest.mark.parametrize("realm", ["file:///etc/passwd", "ftp://x/y", ""])
def test_a_token_is_asked_for_on_the_web_alone(registry, realm):
    served, host = registry
    served.put("x", "1", "a")
    served.realm = realm or "nowhere"
    with pytest.raises(RefreshError, match="a login that is not for a token"):
        read_digest(reference(f"{host}/x:1"), "1")


def test_a_pin_is_the_same_moved_gone_or_none(registry):
    served, host = registry
    first = served.put("x", "1", "a")
    pin = f"{host}/x:1@{first}"
    assert compare([("x", pin)])[0].state is State.SAME
    second = served.put("x", "1", "b")
    [moved] = compare([("x", pin)])
    assert (moved.state, moved.now) == (State.MOVED, second)
    assert compare([("x", f"{host}/x:1@{OTHER}")])[0].state is State.GONE
    assert compare([("x", f"{host}/x:2@{first}")])[0].state is State.GONE, "no such tag"
    assert compare([("x", f"{host}/x:1")])[0] == comparing.Compared("x", f"{host}/x:1", State.UNPINNED, second)
    assert compare([("x", f"{host}/x@{first}")])[0].state is State.SAME, "a digest without a tag"


def test_all_digests_are_written_and_nothing_else_changes():
    found = [
        comparing.Compared(pin.name, pin.image, State.MOVED, f"sha256:{number:064x}")
        for number, pin in enumerate(image_pins())
    ]
    before = yaml.safe_load(VERSIONS.read_text())
    text = written(VERSIONS.read_text(), image_pins(), found, DAY)
    after = yaml.safe_load(text)
    for number, (name, entry) in enumerate(after.pop("images").items()):
        assert entry["image"] == f"{before['images'][name]['image'].partition('@')[0]}@sha256:{number:064x}"
        assert (entry["date"], entry["read"]) == (DAY, DAY)
        assert entry["source"].startswith("tag read from ")
    del before["images"]
    assert after == before
    changed = set(VERSIONS.read_text().splitlines()) - set(text.splitlines())
    assert all(line.startswith("    ") for line in changed), "comments and order stay"


def test_a_chart_in_a_registry_is_a_pin_of_its_version():
    pinned = {pin.name: pin for pin in chart_pins()}
    assert set(pinned) == {name for name, chart in pins().charts if chart.chart.startswith("oci://")}
    for name, pin in pinned.items():
        chart = pins().chart(name)
        assert reference(pin.image).tag == chart.version and pin.label == f"chart {name}"
        assert f"oci://{pin.image.partition('@')[0]}" == f"{chart.chart}:{chart.version}"


def test_digests_of_charts_are_written_beside_their_versions():
    found = [comparing.Compared(pin.label, pin.image, State.UNPINNED, OTHER) for pin in chart_pins()]
    before = yaml.safe_load(VERSIONS.read_text())
    after = yaml.safe_load(written(VERSIONS.read_text(), (*image_pins(), *chart_pins()), found, DAY))
    for pin in chart_pins():
        entry = before["charts"][pin.name]
        assert after["charts"][pin.name] == {**entry, "digest": OTHER, "read": DAY}
    assert after["images"] == before["images"]


def test_where_one_is_silent_nothing_is_written():
    found = [comparing.Compared(pin.name, pin.image, State.SAME, OTHER) for pin in image_pins()]
    found[1] = comparing.Compared(found[1].name, found[1].image, State.SILENT, "", "the network is down")
    with pytest.raises(RefreshError, match=r"nothing is written: smoke could not be read .the network is down"):
        written(VERSIONS.read_text(), image_pins(), found, DAY)


@pytest.fixture
def catalogue(registry, tmp_path, monkeypatch):
    """A catalogue of one image on the small registry."""
    served, host = registry
    digest = served.put("mlflow", "3", "a")
    file = tmp_path / "versions.yaml"

    def pinned(digest=digest):
        file.write_text(
            f"images:\n  mlflow:  # a comment\n    image: {host}/mlflow:3@{digest}\n"
            "    source: somebody\n    date: 2026-11-21\n    read: null\n"
        )
        monkeypatch.setattr(versions, "_table", lambda: yaml.safe_load(file.read_text()))
        return file

    monkeypatch.setattr(tables, "catalog_folder", lambda: tmp_path)
    pinned()
    return served, pinned


def run(*arguments):
    return CliRunner().invoke(app, ["images", *arguments])


def test_the_verb_ends_with_what_it_found(catalogue, monkeypatch):
    _, pinned = catalogue
    assert run("check").exit_code == 0
    pinned(OTHER)
    told = run("check")
    assert told.exit_code == 1 and "gone" in told.stdout
    monkeypatch.setattr(asking.time, "sleep", lambda _: None)
    monkeypatch.setattr(comparing, "read_digest", lambda parts, wanted: read_digest(parts, wanted, lambda _: None))
    silent = run("check", "127.0.0.1:9/x:1", "--json", "-")
    assert silent.exit_code == 2
    assert "does not answer" in silent.stdout
    assert run("check", "no image", "--json", "-").exit_code == 2


def test_the_verb_tells_a_chart_whose_version_is_another_one_now(catalogue, registry, monkeypatch):
    served, host = registry
    first = served.put("charts/kueue", "1", "a")
    table = versions._table()
    chart = {"chart": f"oci://{host}/charts/kueue", "version": 1, "source": "s", "date": DAY, "read": DAY}
    monkeypatch.setattr(versions, "_table", lambda: {**table, "charts": {"kueue": {**chart, "digest": first}}})
    assert run("check").exit_code == 0
    served.put("charts/kueue", "1", "b")
    told = run("check")
    assert told.exit_code == 1 and "chart kueue" in told.stdout and "moved" in told.stdout
    monkeypatch.setattr(versions, "_table", lambda: {**table, "charts": {"kueue": {**chart, "digest": None}}})
    assert run("check").exit_code == 1, "never read"


def test_the_verb_writes_what_it_read(catalogue):
    served, pinned = catalogue
    file = pinned(OTHER)
    digest = served.put("mlflow", "3", "b")
    assert run("check", "--write").exit_code == 0
    entry = yaml.safe_load(file.read_text())["images"]["mlflow"]
    assert entry["image"].endswith(f"/mlflow:3@{digest}")
    assert isinstance(entry["read"], datetime.date)
    assert "# a comment" in file.read_text()
    assert run("check").exit_code == 0
    before = file.read_text()
    served.manifests.clear()
    told = run("check", "--write")
    assert told.exit_code == 2 and "nothing is written" in told.stderr
    assert file.read_text() == before


def test_images_and_write_exclude_each_other(catalogue):
    told = run("check", "x:1", "--write")
    assert told.exit_code == 2 and "name no images beside it" in told.stderr


def test_the_list_says_what_was_never_read():
    told = run("list")
    assert told.exit_code == 0 and "never" in told.stdout


def test_the_list_of_a_stack_is_what_its_pods_run():
    told = run("list", "demo", "--json", "-", "--project", str(ROOT))
    assert told.exit_code == 0, told.output
    assert pins().image("mlflow") in told.stdout and pins().image("pytorch") in told.stdout
