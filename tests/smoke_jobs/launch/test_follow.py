from __future__ import annotations

from tests.smoke_jobs.launch.support import RecordedView
from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.ddp.options import Options
from trainyard.smoke_jobs.ddp.result import empty_document
from trainyard.smoke_jobs.launch.follow import CheckDone, Follower
from trainyard.smoke_jobs.launch.start import encode


def _document(exit_code: int = 0, verdict: str = "pass") -> dict:
    found = empty_document(Options(), 0.0)
    found["checks"] = [result.passed("fine", details={"a": 1}).entry("rendezvous", 0.5)]
    return found | {"exit_code": exit_code, "verdict": verdict, "curves": {"bandwidth": [1], "scaling": []}}


def test_a_line_of_progress_reaches_the_view_with_what_runs_next():
    view = RecordedView()
    Follower(view).line("smoke: [ 3/10] collectives  pass       1.2 s  busbw all_reduce 2 MiB 0.3 GB/s\n")
    assert view.done == [CheckDone("collectives", "pass", 1.2, "busbw all_reduce 2 MiB 0.3 GB/s", 3, 10)]
    assert view.statuses == ["check 4 of 10: transport"]


def test_nothing_runs_after_the_last():
    view = RecordedView()
    Follower(view).line("smoke: [10/10] scaling      pass       1.2 s  ")
    assert view.statuses == []


def test_the_short_line_gives_a_document_without_curves():
    follower = Follower(RecordedView())
    follower.line(result.line(_document(10, "fail")))
    ended = follower.end(1)
    assert ended.exit_code == 10
    assert ended.document is not None
    assert ended.document["curves"] == {"bandwidth": [], "scaling": []}
    assert ended.document["checks"][0]["details"] == {}
    assert not follower.complete


def test_the_whole_document_wins_in_either_order():
    document = _document(20, "below")
    whole, short = encode(__import__("json").dumps(document).encode()), result.line(document)
    for lines in ((whole, short), (short, whole)):
        follower = Follower(RecordedView())
        follower.lines(lines)
        assert follower.document == document


def test_a_line_that_a_collector_cut_leaves_the_short_one():
    document = _document(20, "below")
    follower = Follower(RecordedView())
    follower.lines([result.line(document), encode(b"{}" * 1000)[:60], "SMOKE_RESULT {cut"])
    assert follower.end(None).exit_code == 20


def test_without_a_result_the_platforms_code_stays_where_it_is_ours():
    assert Follower(RecordedView()).end(75, "gone").exit_code == 75
    assert Follower(RecordedView()).end(137).exit_code == 1
    assert Follower(RecordedView()).end(0).exit_code == 1, "a job without a result has not passed"
    assert Follower(RecordedView()).end(None).reason == "the job left no result"


def test_only_the_end_of_a_long_log_is_kept():
    follower = Follower(RecordedView())
    follower.lines(str(n) for n in range(1000))
    assert follower.log[-1] == "999"
    assert len(follower.log) < 250
