"""The handover: its parts for each reader, and what its first page says."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from trainyard.problems import count
from trainyard.review.handover import engagement, engineer, evidence, manager, proof
from trainyard.review.handover.model import Part, Section, part
from trainyard.review.handover.page import Banner, Document, Tile
from trainyard.review.handover.subject import Subject
from trainyard.review.handover.watch import watch
from trainyard.review.reports.page_parts import counts_of, words
from trainyard.review.verdict import dollars
from trainyard.smoke_jobs.report.terminal import headline


def handover(subject: Subject) -> Document:
    """The handover of a judged stack."""
    results = " or of the results of its smoke jobs" if subject.smoke else ""
    return Document(
        kind="Handover",
        over="Training environment",
        title=subject.title,
        meta=(*subject.picture.places, f"stack {subject.stack}", subject.today.isoformat()),
        banners=tuple(_banners(subject)),
        tiles=tuple(_tiles(subject)),
        parts=_parts(subject),
        foot=(
            f"Written by Trainyard {version('trainyard')} on {subject.today.isoformat()} from a rehearsal of stack "
            f"{subject.stack} ({subject.review.file}): every figure is of that rehearsal{results}."
        ),
    )


def verdict_banner(subject: Subject) -> Banner:
    """What the stack is, in a word and a sentence, and what to do where that is not well."""
    verdict = subject.review.verdict
    mood = verdict.state.mood
    steps = () if mood == "good" else tuple(subject.hidden(step) for step in verdict.next_steps)
    return Banner(mood, words(verdict.state.value), verdict.headline, counts_of(verdict), steps)


def _banners(subject: Subject) -> Iterator[Banner]:
    yield verdict_banner(subject)
    for document in subject.smoke:
        if document["verdict"] != "pass":
            yield Banner("bad", "Smoke job", proof.told_of(document))


def _parts(subject: Subject) -> tuple[Part, ...]:
    """The parts of the document, without what has nothing to say."""
    return tuple(
        found
        for found in (
            part(
                "manager",
                "For those who decide",
                "what you have, what it costs, what protects you, what to watch",
                (
                    manager.have(subject),
                    manager.costs(subject),
                    manager.protection(subject),
                    watch(subject),
                    proof.summary(subject),
                    *_engagement(subject),
                    manager.success(subject),
                ),
            ),
            part(
                "engineer",
                "For those who run it",
                "how it is built, reached, shared, watched, restored and ended",
                (
                    engineer.picture(subject),
                    engineer.network(subject),
                    engineer.access(subject),
                    engineer.queues(subject),
                    engineer.storage(subject),
                    engineer.alerts(subject),
                    engineer.drills(subject),
                    engineer.teardown(subject),
                    proof.detail(subject),
                    engineer.first_up(subject),
                    engineer.versions(subject),
                ),
            ),
            part(
                "evidence",
                "Evidence",
                "each policy with what became of it, each price with its source",
                (evidence.policies(subject), evidence.prices(subject)),
            ),
        )
        if found.sections
    )


def _engagement(subject: Subject) -> Iterator[Section]:
    """What a run took before and takes now, and what the client answered, where they did."""
    if subject.answers is not None:
        yield engagement.change(engagement.before_after(subject, subject.answers, subject.today))
        yield engagement.answers(subject.answers)


def _tiles(subject: Subject) -> Iterator[Tile]:
    """What the first page says in figures."""
    money = subject.review.verdict.money
    if money is not None:
        budget = f"of {dollars(money.budget)} in the budget" if money.budget is not None else "no budget"
        label = f"expected a month, {budget}{', jobs on top' if subject.managed else ''}"
        yield Tile(dollars(money.expected), "USD", label, money.mood)
        yield Tile(dollars(money.idle), "USD", "a month while nothing runs")
    gpus = manager.gpus_at_most(subject)
    if gpus:
        yield Tile(f"{gpus:,}", "GPUs" if gpus != 1 else "GPU", f"at most, {_idle_gpus(subject)}")
    report = subject.review.policies
    if report is not None:
        violated = f"{count(len(report.violations), 'violation')}" if report.violations else "all hold"
        mood = "bad" if report.mandatory else "warn" if report.violations else "good"
        yield Tile(f"{report.policies}", "policies", f"judged, {violated}", mood)
    for document in subject.smoke[:1]:
        passed = all(one["verdict"] == "pass" for one in subject.smoke)
        said = "every smoke job passed" if passed else headline(document)
        yield Tile(f"{len(subject.smoke)}", "proven" if passed else "tried", said, "good" if passed else "bad")


def _idle_gpus(subject: Subject) -> str:
    """What of the GPUs there is while no job runs."""
    groups = [
        group for cluster in subject.picture.clusters for pool in cluster.pools if pool.gpu for group in pool.groups
    ]
    always = sum((group.min_nodes or 0) * group.gpus_per_node for group in groups)
    reserved = sum((group.max_nodes or 0) * group.gpus_per_node for group in groups if group.capacity == "reserved")
    if always:
        return f"{always} of them always on"
    return f"{reserved} of them reserved, paid for either way" if reserved else "and none while nothing runs"
