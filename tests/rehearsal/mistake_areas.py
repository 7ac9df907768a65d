"""Every list of mistakes that the rehearsal is tried with: what `docs/mistakes.md` and the pages below it tell of.

`test_mistake_lists.py` fails where a list of the tests is in none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.rehearsal.mistake_lists import (
    HERE,
    Area,
    MistakeList,
    Row,
    lists,
    module,
    of_cases,
    of_google,
    of_mistakes,
    of_tired,
    of_values,
)
from trainyard.rehearsal.works.check import ROOMS


def areas() -> list[Area]:
    """The pages, in the order in which they are told of."""
    return [
        _of_the_rooms(),
        _in_clusters(),
        _on_aws(),
        _on_google(),
        _in_managed_training(),
        _of_others(),
        _of_values(),
    ]


def _rooms() -> Iterator[MistakeList]:
    """A list of each room, and of each on Google Cloud, as soon as there is a file of that name."""
    for name in ROOMS:
        for cloud, where in (("", ""), ("_gcp", " on Google Cloud")):
            if (HERE / "works" / f"mistakes_{name}{cloud}.py").exists():
                yield lists(f"{name.capitalize()}{where}", f"works/{name}", f"works.mistakes_{name}{cloud}")


def _of_the_rooms() -> Area:
    more = (
        lists("Placement on GKE", "works/placement/test_gke.py", "works.mistakes_gke"),
        lists("What programs are told and wait for", "works/programs/test_told.py", "works.mistakes_told"),
        lists("What is watched", "works/watching", "works.mistakes_watched"),
        lists("What does nothing, and nobody notices", "works/programs/test_silent.py", "works.mistakes_silent"),
        lists("Kinds of mistakes of every room", "works/test_breadth.py", "works.mistakes_breadth"),
    )
    words = (
        "A rule and its mistakes were written together: that these are told says that the rules do what they are for."
    )
    return Area("rooms", "Mistakes that each room of the rehearsal was written for", words, (*_rooms(), *more))


def _in_clusters() -> Area:
    sets, unseen, both = "works/test_k8s_sets.py", "works/test_k8s_unseen.py", "works/test_k8s_both_clouds.py"
    own, placed, named = "works/test_k8s_own_objects.py", "works/test_place_sets.py", "works/test_named_clauses.py"

    def cases(name: str) -> Iterable[Row]:
        at, *collections = {
            "works.test_k8s_neighbours": (2, "MORE"),
            "works.test_k8s_unseen": (1, "MORE"),
            "works.test_k8s_both_clouds": (1, "MORE"),
            "works.test_refs_sets": (2, "FURTHER"),
            "works.queues.test_annotations": (0, "MORE"),
        }[name]
        return of_cases(name, at, *collections)

    neighbours = (
        *(f"works.test_{name}" for name in ("k8s_neighbours", "k8s_unseen", "k8s_both_clouds", "refs_sets")),
        "works.queues.test_annotations",
    )
    return Area(
        "clusters",
        "Mistakes within a cluster, and in what it runs on",
        "In our own stacks on both clouds, and in objects of other people's programs beside ours. Each set was written"
        " after the one before was mended.",
        (
            lists("First set", sets, "works.mistakes_k8s_first", first=(49, 75)),
            lists("Second set", sets, "works.mistakes_k8s_second", first=(29, 55)),
            lists("Third set", sets, "works.mistakes_k8s_third", first=(18, 41)),
            lists("Fourth set", unseen, "works.mistakes_k8s_fourth", first=(44, 61)),
            lists("Fifth set", unseen, "works.mistakes_k8s_fifth", first=(25, 46)),
            lists("Sixth set, on both clouds", both, "works.mistakes_k8s_sixth", first=(27, 55)),
            lists("Seventh set, on both clouds", both, "works.mistakes_k8s_seventh", first=(14, 30)),
            lists("Eighth set, objects of other programs", own, "works.mistakes_k8s_eighth", first=(30, 62)),
            lists("Ninth set, objects of other programs", own, "works.mistakes_k8s_ninth", first=(12, 30)),
            lists(
                "Placement, queues, machines and charts",
                placed,
                "works.mistakes_place_first",
                rows=lambda name: of_mistakes(name, "FIRST", "SECOND", "WIDER"),
                first=(56, 66),
                words="39 of 44 and 17 of 22 at first sight; thirty-three more of the same kinds followed.",
            ),
            lists(
                "Through all nine examples",
                placed,
                "works.mistakes_nine",
                rows=lambda name: (*of_mistakes(name), *of_mistakes(name, "WIDER", "SECOND")),
                first=(64, 68),
                words="48 of 50 and 16 of 18 at first sight; five more of the same kinds as what was missed. A label"
                " that is read from a field within another is told by nothing, and is not in the list.",
            ),
            lists(
                "Through all nine examples, in every room",
                placed,
                "works.mistakes_every_room",
                rows=lambda name: of_mistakes(name, "REFUSED", "SILENT", "WIDER", "SECOND"),
                first=(46, 48),
                words="Missed were an alert on a kind of resource that no log is of, and failures that are counted"
                " where no alarm looks. Five of the same kinds follow, and twenty-six, written with knowledge of some"
                " rules, of which two were missed.",
            ),
            lists(
                "Through all nine examples, of every aspect",
                placed,
                "works.mistakes_all_nine",
                rows=lambda name: of_mistakes(name, "REFUSED", "SILENT", "WIDER", "SECOND", "THIRD"),
                first=(91, 94),
                words="50 of 53, and 41 of 41 in corners that the first left out. Missed were replicas that keep apart"
                " in as many zones as there are, a label beside those of Kubernetes, and a resource of which the"
                " autoscaler is told less than nodes have; five more follow, with the only one of eighteen, on what"
                " happens over time, that was missed.",
            ),
            lists(
                "As a team changes its stacks",
                "works/test_team_changes.py",
                "works.mistakes_team_changes",
                rows=lambda name: of_mistakes(name, "REFUSED", "SILENT", "WIDER"),
                first=(72, 79),
                words="29 of 33 that are refused, and 43 of 46 that are taken. Missed were settings of an add-on's pods"
                " beside their place, backups of a linked file system, a selector that is empty, an account by its"
                " address, a filter on what no rule lets by, one subnet of several without a way out, and a volume that"
                " alone cannot be written to. Five of the same kinds follow.",
            ),
            lists(
                "Inside the cluster and at its edge",
                "works/test_k8s_inside.py",
                "works.mistakes_inside",
                first=(89, 94),
                words="49 of 50 and 40 of 44, both written before anything was mended.",
            ),
            lists(
                "References, flows, rights and paths, first set", "works/test_refs_sets.py",
                "works.mistakes_refs_first",
                first=(40, 44),
            ),
            lists(
                "References, flows, rights and paths, second set", "works/test_refs_sets.py",
                "works.mistakes_refs_second", first=(19, 24),
            ),
            lists(
                "Each noun that the rehearsal promises, asked about by itself",
                named,
                "works.test_named_clauses",
                rows=lambda name: of_cases(name, 0, "TOLD"),
                first=(131, 137),
                words="The six of 137 that were missed, and what is of their kind; the others were told, and are not"
                " kept.",
            ),
            lists("What else is of a class that was mended", "works", *neighbours, rows=cases),
        ),
    )  # fmt: skip


def _on_aws() -> Area:
    sets, services, elsewhere = "works/test_aws_sets.py", "works/test_aws_services.py", "works/test_aws_elsewhere.py"
    return Area(
        "aws",
        "Mistakes in what is made of AWS",
        "In our own components first, then in services that only programs of other people have.",
        (
            lists(
                "Our components: first, wider and second set", sets, "works.mistakes_aws_first",
                "works.mistakes_aws_wider", "works.mistakes_aws_second",
            ),
            lists("Third set, with a cluster", sets, "works.mistakes_aws_third", first=(20, 25)),
            lists("Fourth set", services, "works.mistakes_aws_fourth", first=(31, 70)),
            lists("Fifth set, other services", services, "works.mistakes_aws_fifth", first=(16, 36)),
            lists("Sixth set, services that no example has", elsewhere, "works.mistakes_aws_sixth", first=(9, 58)),
            lists("Seventh set, services that no set had", elsewhere, "works.mistakes_aws_seventh", first=(6, 35)),
            lists(
                "Eighth set, our components",
                "works/test_aws_own.py",
                "works.mistakes_aws_eighth",
                first=(79, 98),
                words="What three sets missed (38 of 44, 24 of 32 and 17 of 22 were told), with the same mistake in"
                " other places; the others were told, and are not kept.",
            ),
            lists(
                "Ninth set, our components",
                "works/test_aws_ninth.py",
                "works.mistakes_aws_ninth",
                rows=lambda name: of_cases(name, 1, "REFUSED", "SILENT", "LATER"),
                first=(77, 79),
                words="57 of 58, and 20 of 21 in corners that the first left out, of which the last three rows are.",
            ),
            lists(
                "Tenth set, our stacks by their settings and by what they make",
                "works/test_aws_tenth.py",
                "works.mistakes_aws_tenth",
                rows=lambda name: of_cases(name, 1, "REFUSED", "SILENT", "LATER"),
                first=(71, 78),
                words="37 of 41, and 34 of 37 in corners that the first left out. Settings are not among the rows: all"
                " 14 were refused as soon as they were read. The last rows are of the classes that were missed, and"
                " what 128 more, written when those were mended, had left (117 were told).",
            ),
        ),
    )  # fmt: skip


def _on_google() -> Area:
    sets, more, services = "works/test_gcp_sets.py", "works/test_gcp_more_sets.py", "works/test_gcp_services.py"
    own, twelfth = "works/test_gcp_own_sets.py", "works/test_gcp_twelfth_set.py"

    def of(name: str, put: str) -> Callable[[str], Iterator[Row]]:
        return lambda held: of_google(f"works.{Path(put).stem}", held)

    return Area(
        "google-cloud",
        "Mistakes in what is made of Google Cloud",
        "Sets in our components and in a program of somebody else's; each was written after the one before was mended."
        " Where nothing tells one, it cannot be known or, as it turned out, works.",
        (
            lists(
                "First two sets", "works/test_tired.py", "works.mistakes_gcp_sixty", "works.mistakes_gcp_forty",
                rows=of_tired, words="First sight is counted with those of managed training, written with them.",
            ),
            lists("Third set", sets, "works.mistakes_gcp_third", rows=of("third", sets), first=(68, 92)),
            lists("Fourth set", sets, "works.mistakes_gcp_fourth", rows=of("fourth", sets), first=(42, 65)),
            lists("Fifth set", more, "works.mistakes_gcp_fifth", rows=of("fifth", more), first=(30, 64)),
            lists("Sixth set", more, "works.mistakes_gcp_sixth", rows=of("sixth", more), first=(14, 32)),
            lists(
                "Seventh set, mostly in somebody else's program", services, "works.mistakes_gcp_seventh",
                rows=of("seventh", services), first=(19, 60),
            ),
            lists(
                "Eighth set, mostly in somebody else's program", services, "works.mistakes_gcp_eighth",
                rows=of("eighth", services), first=(4, 30),
            ),
            lists("Ninth set, our components", own, "works.mistakes_gcp_ninth", first=(35, 44)),
            lists("Tenth set, our components", own, "works.mistakes_gcp_tenth", first=(18, 26)),
            lists("Eleventh set, our components", own, "works.mistakes_gcp_eleventh", first=(10, 17)),
            lists("Twelfth set, our components and clusters", twelfth, "works.mistakes_gcp_twelfth", first=(55, 60)),
            lists(
                "Thirteenth set, our components and all clusters", "works/test_gcp_thirteenth_set.py",
                "works.mistakes_gcp_thirteenth", "works.mistakes_k8s_tenth", first=(128, 142),
                words="83 of 91, and 45 of 51 in corners that were left out at first; eight more the settings refused.",
            ),
        ),
    )  # fmt: skip


def _in_managed_training() -> Area:
    put = "works/test_managed_sets.py"
    return Area(
        "managed-training",
        "Mistakes in managed training",
        "On both clouds, without a cluster: editors, jobs, their budgets and their records.",
        (
            lists(
                "First two sets", "works/test_tired.py", "works.mistakes_managed_sixty", "works.mistakes_managed_forty",
                rows=of_tired, first=(57, 100),
                words="32 of 60 and 25 of 40 at first sight, with those of the first two sets on Google Cloud.",
            ),
            lists(
                "Third set, on AWS, and MLflow on Cloud Run", put, "works.mistakes_managed_third",
                "works.mistakes_managed_run", first=(16, 50),
            ),
            lists("Fourth set, on both clouds", put, "works.mistakes_managed_fourth", first=(16, 35)),
        ),
    )  # fmt: skip


def _of_others() -> Area:
    put = "works/test_foreign_sets.py"
    return Area(
        "other-programs",
        "Mistakes in programs of other people",
        "Whole programs that share nothing with ours: training on both clouds, on ECS, with Slurm, on TPUs.",
        (
            lists("First set, three programs", put, "works.mistakes_foreign_first", first=(40, 54)),
            lists("Second set, in the same", put, "works.mistakes_foreign_second", first=(20, 27)),
            lists("Third set, speech and vision", put, "works.mistakes_foreign_third", first=(40, 48)),
            lists("Fourth set, ECS and Slurm", put, "works.mistakes_foreign_fourth", first=(10, 32)),
            lists("Fifth set, machines and TPUs", put, "works.mistakes_foreign_fifth", first=(17, 31)),
            lists(
                "Rights in another program", "works/rights/test_foreign.py", "works.rights.test_foreign",
                rows=lambda name: of_cases(name, 1, "WRONG"),
            ),
        ),
    )  # fmt: skip


def _of_values() -> Area:
    def one(title: str, put: str, name: str, *collections: str, first: tuple[int, int] | None = None) -> MistakeList:
        rows = tuple(row for collection in collections for row in of_values(f"refusals.{name}", collection))
        return MistakeList(title, f"refusals/{put}.py", (f"refusals.{name}",), rows, first)

    programs = tuple(Row(what, rule) for what, (_, rule, _) in module("test_mistakes").MISTAKES.items())
    sixty, forty = "test_gcp_sixty", "test_small_forty"
    return Area(
        "values",
        "Wrong values that a cloud, an API server or a chart refuses",
        "One value at a time: a resource, the path of its input, and the value. Where the last column says `yes`, the"
        " list does not hold which rule tells it.",
        (
            MistakeList("A program's own mistakes", "test_mistakes.py", ("test_mistakes",), programs),
            one("Values of AWS", "test_aws_mistakes", "aws_mistakes", "PROVIDER", "SERVICE"),
            one("Values of AWS that fit together", "test_aws_together", "test_aws_together", "ROWS"),
            one("Values of Google Cloud", "test_gcp_mistakes", "gcp_mistakes", "MISTAKES"),
            one("Values of Google Cloud, by type", "test_gcp_forms", "test_gcp_forms", "WRONG"),
            one("Sixty values of a stack on Google Cloud", sixty, "gcp_sixty", "SIXTY", first=(34, 60)),
            one("Another sixty", sixty, "gcp_another_sixty", "ANOTHER_SIXTY", first=(60, 60)),
            one("Sixty harder ones", sixty, "gcp_another_sixty", "HARDER", first=(45, 60)),
            one("Forty values of managed training on AWS", forty, "small_forty", "FORTY", first=(34, 40)),
            one("Forty values of managed training on Google Cloud", forty, "small_gcp_forty", "FORTY", first=(23, 40)),
            one(
                "Objects of Kubernetes, custom resources and charts", "test_kubernetes_mistakes",
                "test_kubernetes_mistakes", "OBJECTS", "CUSTOM", "HELM",
            ),
            one("Inputs of Kubernetes", "test_kubernetes_inputs", "test_kubernetes_inputs", "ROWS"),
            one(
                "Inputs of Kubernetes that fit together", "test_kubernetes_together", "test_kubernetes_together", "ROWS"
            ),
        ),
    )  # fmt: skip
