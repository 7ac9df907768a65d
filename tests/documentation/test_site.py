"""The site is built strictly: a dead link, a lost page, a name of no page fail it; nothing is loaded from elsewhere."""

import re
import shutil

import pytest
from click.testing import CliRunner

from tests.shared import ROOT

pytest.importorskip("mkdocs", reason="mkdocs is not installed: the site is not built")
from mkdocs.__main__ import cli
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort


def configured(site, docs=None, **more):
    return load_config(
        str(ROOT / "mkdocs.yml"), site_dir=str(site), docs_dir=str(docs or ROOT / "docs"), strict=True, **more
    )


@pytest.fixture(scope="module")
def site(shared_things):
    def built():
        folder = shared_things.folder("site")
        build(configured(folder))
        return folder

    return shared_things.of("site", built)


def test_every_document_is_a_page(site):
    ours = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    ours = {re.sub(r"README\.html$", "index.html", page) for page in ours}
    assert [page for page in sorted(ours) if not (site / page).exists()] == []


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("reference/commands.html", "trainyard fleet upgrade"),
        ("reference/commands.html", "--relock"),
        ("reference/policies.html", "alerts-reach-nobody"),
        ("reference/components.html", "certificates"),
        ("contributing.html", "The map"),
    ],
)
def test_the_reference_is_written_from_the_code(site, page, told):
    assert told in (site / page).read_text()


def test_the_pictures_are_what_the_commands_print(site):
    picture = (site / "pictures" / "rehearse-demo.svg").read_text()
    assert "demo" in picture and "sound" in picture
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")
    assert "pictures/rehearse-demo.svg" in (site / "index.html").read_text()
    assert "<svg" in (site / "pictures" / "rehearse-demo.html").read_text()


def test_the_name_of_a_page_is_a_link_but_not_in_code(site):
    assert (
        '<a href="../queues.html"><code>docs/queues.md</code></a>' in (site / "explanation" / "sizing.html").read_text()
    )
    assert 'href="monitoring.html"' in (site / "tutorial.html").read_text()


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|iframe)[^>]+src="([^"]+)"|<link[^>]+href="([^"]+)"', page.read_text())
        assert [address for pair in loaded for address in pair if re.match(r"(https?:)?//", address)] == [], page


def test_no_page_is_in_the_menus_twice():
    def pages(entry):
        if isinstance(entry, str):
            return [entry]
        return [page for below in (entry.values() if isinstance(entry, dict) else entry) for page in pages(below)]

    found = pages(configured(ROOT / "out" / "site").nav)
    assert len(found) > 20
    assert len(found) == len(set(found))


DEAD = {
    "[there](../nowhere.md)": "nowhere.md",
    "[there](../queues.md#no-such-heading)": "no-such-heading",
    "As `docs/no-page.md` says.": "names docs/no-page.md, which is no page",
}


def test_what_is_dead_ends_the_build(tmp_path, caplog):
    docs = tmp_path / "docs"
    shutil.copytree(ROOT / "docs", docs)
    with (docs / "how-to" / "add-a-team.md").open("a") as page:
        page.write("\n\n".join(["", *DEAD]))
    (docs / "lost.md").write_text("# A page that no menu names\n")
    with pytest.raises(Abort, match=f"{len(DEAD) + 1} warnings"):
        # A plain theme and no search: they are none of this.
        build(configured(tmp_path / "site", docs, theme={"name": "mkdocs"}, plugins=[]))
    for told in (*DEAD.values(), "lost.md"):
        assert told in caplog.text


def test_what_make_docs_runs_fails_at_a_warning(tmp_path):
    (arguments,) = re.findall(r"-m mkdocs (build .*)", (ROOT / "Makefile").read_text())
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "index.md"
    site = tmp_path / "mkdocs.yml"
    site.write_text("site_name: dead\ntheme: mkdocs\nplugins: []\n")
    for text, code in (("# Here\n", 0), ("# Here\n\n[there](nowhere.md)\n", 1)):
        page.write_text(text)
        assert CliRunner().invoke(cli, [*arguments.split(), "--config-file", str(site)]).exit_code == code
