from __future__ import annotations

import io

from rich.console import Console

from tests.smoke_jobs.report.support import document
from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.launch.follow import CheckDone, Ended
from trainyard.smoke_jobs.report.html import page
from trainyard.smoke_jobs.report.terminal import Progress, headline, show


def _console(terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), width=160, force_terminal=terminal, highlight=False)


def _text(console: Console) -> str:
    return console.file.getvalue()


def test_the_result_has_a_row_a_check_and_says_what_is_wrong():
    console = _console()
    show(Ended(10, document()), console, console)
    text = _text(console)
    assert "collectives   below        4.0  busbw all_reduce 2 GiB 41.3 GB/s  >= 372.3 (gate)" in text
    assert "kill to resumed step 5.6 s" in text and "<= 11.1 (gate)" in text
    assert "transport: NCCL chose <Socket>: the image lacks the plugin" in text
    assert "rank 3 on n0: died" in text
    assert "It cannot train: a check failed (exit 10) · 16 ranks on 2 nodes, NVIDIA H100" in text
    assert "1.25 USD" in text
    assert "\x1b" not in text


def test_what_was_never_run_on_such_hardware_is_said():
    found = document() | {"unproven": {"fabric": ["transport"], "dcgm": ["dcgm"]}}
    console = _console()
    show(Ended(10, found), console, console)
    said = "never tried on such hardware by this project: fabric (transport); dcgm (dcgm)"
    assert said in _text(console) and said in result.table(found)
    assert f"N{said[1:]}." in page(found)
    for without in (document(), {key: value for key, value in found.items() if key != "unproven"}):
        console = _console()
        show(Ended(10, without), console, console)
        assert "never tried" not in _text(console) + result.table(without) + page(without)


def test_equal_reasons_are_one_line():
    found = document()
    for entry in found["checks"][4:7]:
        entry.update(verdict="skipped", reason="needs collectives, which failed")
    console = _console()
    show(Ended(10, found), console, console)
    assert "gradients, checkpoint, interruption: needs collectives, which failed" in _text(console)


def test_a_pass_of_some_checks_is_not_called_more():
    found = document() | {"verdict": "pass", "exit_code": 0}
    assert headline(found) == "It can train: every check that applies passed"
    found["checks"][0] = result.skipped("not asked for").entry("rendezvous", 0.0)
    assert headline(found) == "The chosen checks passed"


def test_without_a_result_the_log_and_the_reason_are_shown():
    out, errors = _console(), _console()
    show(Ended(124, None, "did not end", ["line [1]", "line 2"]), out, errors)
    assert _text(out) == ""
    assert "line [1]\n  line 2\nerror: did not end (exit 124)" in _text(errors)


def test_plain_progress_is_one_line_an_event():
    console = _console()
    with Progress(console) as view:
        view.status("starting [x]")
        view.status("starting [x]")
        view.check_done(CheckDone("devices", "pass", 0.5, "8 x [H100]", 2, 10))
    assert _text(console).splitlines() == ["smoke: starting [x]", " 2/10 devices       pass        0.5 s  8 x [H100]"]


def test_a_terminal_gets_a_spinner_that_leaves_nothing_behind():
    console = _console(terminal=True)
    with Progress(console) as view:
        view.status("waiting for quota")
        view.check_done(CheckDone("devices", "fail", 0.5, "gone"))
    text = _text(console)
    assert "waiting for quota" in text
    assert "devices" in text
    assert text.rstrip().endswith(("\x1b[?25h", "\x1b[2K", "\x1b[1A\x1b[2K"))
