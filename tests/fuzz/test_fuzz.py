"""A small share of `make fuzz`, and that it would find something."""

import json
import signal
import time
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest
from pydantic import Field, TypeAdapter

from tests.fuzz import judge, run
from tests.fuzz.fields import KINDS, without_generator, world
from tests.fuzz.files import ATTACKS, case, file_text, without
from tests.fuzz.judge import Outcome, planned
from tests.fuzz.said import SAID, promised, said, warned
from tests.fuzz.shorten import shortened
from trainyard.policies.pack import POLICIES
from trainyard.problems import Problem, SettingsError
from trainyard.settings.common import Settings
from trainyard.settings.types import Email, Model, Name, PublicCidr

FILES = 120
REHEARSALS = 3


def test_every_setting_is_drawn():
    assert list(without_generator()) == []


def _at(values, path):
    """What stands at a path of keys; nothing where it is not there."""
    for key in path:
        values = values.get(key, {})
    return values or ()


def test_what_is_drawn_of_a_kind_is_of_that_kind():
    """Else a field of another kind would be drawn wrong and refused for ever, and nothing behind it be tried."""
    rng = Random("kinds")
    for kind, draw in KINDS.items():
        for _ in range(50):
            TypeAdapter(kind).validate_python(draw(rng, world(rng)))
    for field, kind in ((("apiAccess", "cidrs"), PublicCidr), (("alertEmails",), Email)):
        drawn = [value for i in range(300) for value in _at(case(f"k:{i}", "wild").values, field)]
        assert len(drawn) > 5
        for value in drawn:
            TypeAdapter(kind).validate_python(value)


def test_a_setting_whose_type_says_too_little_is_named():
    class Part(Model):
        colour: str = Field(default="red", description="one nobody can guess")
        name: Name = Field(default="a", description="a name says enough")

    class More(Settings):
        part: Part = Field(default=Part(), description="new")
        depth: int = Field(default=1, description="a number without bounds")

    assert set(without_generator(More)) == {"part.colour", "depth"}


def test_the_same_seed_draws_the_same_file():
    assert [case(f"s:{i}").text for i in range(30)] == [case(f"s:{i}").text for i in range(30)]
    assert len({case(f"s:{i}").text for i in range(30)}) == 30
    assert case("s:1", "wild").text != case("s:1", "plausible").text


def test_what_stands_twice_stands_nowhere_within_itself():
    assert case("56:5437").text


@pytest.mark.parametrize(
    ("name", "style"),
    [pytest.param("56:6345", None, id="no zone"), pytest.param("56:r:187.2", "wild", id="a fast pool without nodes")],
)
def test_what_a_seed_could_not_plan_is_refused_in_words(name, style, tmp_path):
    assert planned(case(name, style), tmp_path).kind == "refused"


def test_every_kind_of_attack_is_made():
    """One that never changes anything would be none."""
    for attack in ATTACKS:
        changed = 0
        for seed in range(40):
            values = case(f"a:{seed}", "plausible").values
            before = json.dumps(values, default=str, sort_keys=False)
            attack(values, Random(seed))
            changed += json.dumps(values, default=str, skipkeys=True) != before
        assert changed, attack.__name__


@pytest.mark.parametrize("part", range(4))
def test_random_settings_files_are_planned_or_refused_in_words(part, tmp_path):
    outcomes = [planned(case(f"suite:{index}"), tmp_path) for index in range(part, FILES, 4)]
    assert [outcome.why for outcome in outcomes if outcome.ours] == []
    kinds = {outcome.kind for outcome in outcomes}
    assert kinds == {"accepted", "refused"}, "neither is worth much alone"


@pytest.mark.parametrize("index", range(REHEARSALS))
def test_an_accepted_stack_has_no_error_and_breaks_no_mandatory_policy(index):
    found = run.rehearse_one(f"suite:r:{index}")
    assert not found.outcome.ours, (found.outcome.why, found.case.text)
    assert found.outcome.kind == "accepted"


def test_what_a_refusal_names_is_taken_back_until_a_file_is_accepted(tmp_path):
    """Two draws of this seed found none in two hundred tries."""
    accepted = 0
    for index in range(20):
        drawn = case(f"48:r:111.{index}", "wild")
        for _ in range(run.MOST_MENDED):
            outcome = planned(drawn, tmp_path)
            if outcome.kind != "refused" or (mended := without(drawn, outcome.keys)) is None:
                break
            drawn = mended
        accepted += outcome.kind == "accepted"
        assert not outcome.ours, outcome.why
    assert accepted > 3


def test_what_is_taken_back_is_the_nearest_that_is_there():
    values = {"client": "a", "cloud": "gcp", "teams": [{"name": "x"}, {"name": "y"}], "gpuPools": {"p": {"gpu": "T4"}}}
    drawn = replace(case("x", "plausible"), values=values, text=file_text(values))
    found = without(drawn, ("teams[1].name", "gpuPools.p.spot.maxNodes", "client", "nothing.there"))
    assert found is not None and found.values == {
        "client": "a",
        "cloud": "gcp",
        "teams": [{"name": "x"}, {}],
        "gpuPools": {},
        "gcp": {"project": "acme-ml", "projectNumber": "123456789012"},
    }
    assert without(found, ("client",)) is None and values["gpuPools"] == {"p": {"gpu": "T4"}}


def test_a_seed_that_finds_no_file_says_why(monkeypatch):
    monkeypatch.setattr(run, "planned", lambda drawn, folder: Outcome("refused", "client: got a", ("client",)))
    monkeypatch.setattr(run, "MOST_DRAWN", 3)
    found = run.rehearse_one("x:r:3").outcome
    assert found == Outcome("unsound", "not one of 3 wild files was accepted; the last: client: got a")


def test_a_failure_is_found_kept_and_cut_to_what_fails(monkeypatch, tmp_path, capsys):
    def broken(config):
        if config.values.get("trainyard:owner"):
            raise TypeError("no such thing")
        raise SettingsError([Problem("client", "a", "must be another")])

    monkeypatch.setattr(judge, "resolve_config", broken)
    monkeypatch.setattr(run, "OUT", run.ROOT / "out" / "fuzz-of-the-tests")
    values = {**case("x", "plausible").values, "owner": "me"}
    drawn = replace(case("x", "plausible"), values=values, text=file_text(values))
    outcome = planned(drawn, tmp_path)
    assert outcome == Outcome("traceback", "TypeError: no such thing")
    small, same = shortened(drawn, outcome, lambda smaller: planned(smaller, tmp_path))
    assert (small.values, same) == ({"owner": "me"}, outcome)
    assert run.told("files", [run.Result(drawn, outcome)], 1, planned) == 1
    kept = (run.OUT / "traceback-x.yaml").read_text()
    assert kept == "# seed x\n# TypeError: no such thing\nconfig:\n  trainyard:owner: me\n"
    assert "1 traceback" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("problem", "fault"),
    [
        (Problem("", "nothing", "must be there"), "lacks words"),
        (Problem("client", '"a"', "x" * 4000), "a refusal of 4"),
        (Problem("password", "hunter2-not-to-be-told", "no such key; known here: client"), "is told"),
    ],
)
def test_a_poor_refusal_is_no_refusal(problem, fault):
    (told,) = judge._check_words(SettingsError([problem]))
    assert fault in told


def test_a_violation_that_nobody_asked_for_is_unsound():
    def reviewed(*violations):
        found = [SimpleNamespace(policy=name, level=level, message="m") for name, level in violations]
        return SimpleNamespace(rehearsal=SimpleNamespace(errors=()), policies=SimpleNamespace(violations=found))

    asked = {"apiAccess": {"cidrs": ["198.51.100.0/24"]}, "protect": False}
    assert list(judge._check_asked(reviewed(("public-bucket", "mandatory")), asked)) == ["policy public-bucket: m"]
    assert list(judge._check_asked(reviewed(("public-bucket", "advisory")), asked)) == []
    lifted = reviewed(("stateful-resource-unprotected", "mandatory"))
    assert list(judge._check_asked(lifted, asked)) == []
    assert list(judge._check_asked(lifted, {"protect": True})) == ["policy stateful-resource-unprotected: m"]


def test_what_settings_may_ask_for_is_of_the_pack():
    assert set(SAID) <= {policy.name for policy in POLICIES}
    # Nothing is asked for by who says nothing, but that nobody is told.
    assert [policy for policy in SAID if said(policy, {})] == ["budget-without-alerts", "rights-change-unnoticed"]
    assert said("logs-kept-too-short", {"network": {"flowLogRetentionDays": 30}}), "also at its old place"
    assert not said("logs-kept-too-short", {"logRetentionDays": 400})
    assert said("ceiling-spend-over-budget", {"gpuPools": {"train": {"gpu": "H100"}}})
    assert not said("ceiling-spend-over-budget", {"gpuPools": {"train": {"purpose": "x", "spot": {}}}, "teamSize": 5})
    assert said("dns-open", {"aws": {"dnsFirewall": "alert"}})
    unwatched = {"cloud": "gcp", "alertEmails": ["a@acme.example"], "monitoring": {"enabled": False}}
    assert said("budget-without-alerts", unwatched)
    assert not said("budget-without-alerts", {**unwatched, "cloud": "aws"})
    assert not said("budget-without-alerts", {**unwatched, "gcp": {"billingAccount": "012345-6789AB-CDEF01"}})
    team = {"teams": [{"principals": ["arn:aws:iam::123456789012:role/ml"]}]}
    assert not said("team-administers-cluster", team)
    assert said("team-administers-cluster", {**team, "aws": {"deployers": ["arn:aws:iam::123456789012:role/ml"]}})
    assert warned("programs-prometheus-memory", {"monitoring": {"memory": "512Mi"}})
    assert not warned("programs-prometheus-memory", {"monitoring": {"cpu": "1"}})
    assert warned("programs-prometheus-disk", {"monitoring": {"retentionDays": 730}})
    assert not warned("programs-prometheus-disk", {"monitoring": {"memory": "512Mi"}})
    assert not warned("placement-update-room", {"monitoring": {"memory": "512Mi"}})
    assert said("dns-open", {"network": {"egress": {"mode": "internet"}}})
    assert not said("dns-open", {"network": {"egress": {"mode": "internet"}}, "aws": {"dnsFirewall": "block"}})
    assert said("gpu-pool-never-scales-down", {"gpuPools": {"train": {"spot": {"minNodes": 1}}}})
    assert not said("gpu-pool-never-scales-down", {"gpuPools": {"train": {"spot": {"minNodes": 0}}}})


def test_what_is_asked_for_excuses_no_other_message_and_no_other_cloud():
    """A short retention is one of Google Cloud's records; of AWS's files a lock holds."""
    gcp, aws = ({"cloud": cloud, "logRetentionDays": 7} for cloud in ("gcp", "aws"))
    short = "entries are kept 7 days; at least 30 are required"
    assert said("record-can-be-changed", gcp, short)
    assert not said("record-can-be-changed", gcp, "cmekSettings is not set: whoever may read the bucket reads it")
    assert not said("record-can-be-changed", aws, "files are locked 7 days; at least 30 are required")
    locked = {"cloud": "aws", "audit": {"trail": {"lockDays": 7}}}
    assert said("record-can-be-changed", locked, "files are locked 7 days; at least 30 are required")
    assert not said("record-can-be-changed", locked, "enableLogFileValidation is off: a changed file looks like any")
    extended = {"cloud": "gcp", "gcp": {"releaseChannel": "EXTENDED"}}
    assert said("unsupported-kubernetes-version", extended, "releaseChannel.channel is EXTENDED: old versions go on")
    assert not said("unsupported-kubernetes-version", extended, "version 1.9 is not one of 1.33, 1.34")
    there = {"network": {"egress": {"allow": ["s3.us-east-1.acme.example"]}}}
    assert said("region-outside-residency", there, "domains[20] names us-east-1; india allows ap-south-1, ap-south-2")
    assert not said("region-outside-residency", there, "availabilityZone names us-east-1; india allows ap-south-1")
    names = {"network": {"egress": {"allow": ["github.com"]}}}
    assert not said("region-outside-residency", names)
    assert warned("programs-squid", names, "lets github.com by and not codeload.github.com, which the same")
    assert not warned("programs-squid", names, "zph_mode is a directive of the past: Squid leaves it out")
    once = {"scheduler": {"requeueLimit": 0}}
    assert warned("kueue-configuration", once, "requeuingStrategy.backoffLimitCount is 0: a job whose pods were late")
    assert not warned("kueue-configuration", once, "blockAdmission is true")
    assert not warned("kueue-configuration", {"scheduler": {"requeueLimit": 1}})
    size = {"gcp": {"sharedFilesGib": 1100}}
    assert warned("gcp-filestore", size, "1100: Filestore's documentation has steps of 256 GiB, the provider's any")
    assert not warned("gcp-filestore", size, "public: one network")


def test_a_promise_is_lifted_by_who_decides_otherwise_only():
    own = {"gpuPools": {"train": {"owners": {"vision": 2}}}}
    words = "check_queues: over all capacities, a share is its exact part"
    assert promised(words, {"gpuPools": {"train": {"owners": {}}}})
    assert not promised(words, own)
    assert promised("check_network: anything else", own)


def test_what_works_on_and_on_is_ended_and_what_waits_for_the_machine_is_not():
    with pytest.raises(TimeoutError, match="1 s of work"), judge._at_most(1):
        while True:
            pass
    with judge._at_most(1):
        time.sleep(1.5)  # as if others had the processors
    with judge._at_most(1):
        pass
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
