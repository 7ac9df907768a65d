"""What workers compile for each other is what Python and pytest read, and what starts first is there."""

import importlib.util

from _pytest.assertion import rewrite

from tests.bytecode import _compile, _files
from tests.conftest import HEAVY
from tests.shared import ROOT


def test_what_is_compiled_is_what_is_read(tmp_path, request):
    test, module = tmp_path / "test_it.py", tmp_path / "it.py"
    test.write_text("def test_it():\n    assert 1 == 2\n")
    module.write_text("ONE = 1\n")
    _compile(request.config, [test, module])
    rewritten = rewrite.get_cache_dir(test) / f"test_it{rewrite.PYC_TAIL}"
    code = rewrite._read_pyc(test, rewritten)
    assert code is not None and "@pytest_ar" in code.co_names, "with its assertions rewritten"
    assert importlib.util.cache_from_source(str(module)) in map(str, (tmp_path / "__pycache__").iterdir())
    written = rewritten.stat().st_mtime_ns
    _compile(request.config, [test, module])
    assert rewritten.stat().st_mtime_ns == written, "what is there is left"


def test_everything_is_compiled_by_somebody():
    files = _files()
    assert len(set(files)) == len(files)
    assert {
        ROOT / "tests" / "conftest.py",
        ROOT / "trainyard" / "cli" / "main.py",
        ROOT / "policies" / "rules.py",
    } < set(files)


def test_what_starts_first_is_there():
    paths = [path.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    for start in (start for starts in HEAVY for start in starts):
        assert any(path.startswith(start) for path in paths), start
