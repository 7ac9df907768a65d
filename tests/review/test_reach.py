"""What is told of a team: true to the evaluators, complete, and nothing said twice."""

from __future__ import annotations

import pytest

from tests.cost.recorded import resource
from trainyard.output import as_text
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import VOLUME, VOLUME_CLAIM
from trainyard.rehearsal.works.flows.reach import Flows
from trainyard.review.reach.cluster import volumes
from trainyard.review.reach.model import Row, together
from trainyard.review.reach.told import UnknownTeam, reach_of
from trainyard.review.reports.reach import report


@pytest.fixture(scope="module")
def recorded(rehearsed):
    return Resources(rehearsed("demo").resources)


@pytest.fixture(scope="module")
def reach(recorded):
    return reach_of("demo", recorded, "vision")


def section(reach, name):
    return next(found for found in reach.sections if found.name == name)


def rows_of(reach, name, thing):
    return [row for row in section(reach, name).rows if thing in row.what]


def test_every_place_of_the_network_is_told_once(reach, recorded):
    told = [thing for row in section(reach, "network").rows for thing in row.what]
    extra = {"internet, by way of egress-proxy/egress-proxy", "names that are looked up"}
    assert sorted(set(told) - extra) == sorted(Flows.recorded(recorded).places)
    assert len(told) == len(set(told))


def test_what_carries_something_to_the_internet_is_told(reach):
    assert rows_of(reach, "network", "internet, by way of egress-proxy/egress-proxy")
    (names,) = rows_of(reach, "network", "names that are looked up")
    assert "pypi.org" in names.may


def test_what_is_in_reach_and_what_is_not(reach):
    (own,), (tracking,) = rows_of(reach, "network", "pods of team vision"), rows_of(reach, "network", "mlflow/mlflow")
    assert own.may == ("every port",)
    assert tracking.may == ("TCP 5000",)
    for place in ("pods of team tabular", "database acme-demo-mlflow", "instance metadata"):
        (row,) = rows_of(reach, "network", place)
        assert not row.may
        assert "NetworkPolicies" in row.why


def test_rights_in_aws_by_prefix(reach):
    (own,) = rows_of(reach, "aws", "bucket acme-demo-checkpoints, teams/vision/")
    assert {"list", "read", "write"} <= set(own.may)
    assert "team-vision-role" in own.why
    told = [thing for row in section(reach, "aws").rows if row.may for thing in row.what]
    assert not [thing for thing in told if "tabular" in thing or "language" in thing]


def test_what_has_no_rights_is_told_in_one_row(reach):
    shut = [row for row in section(reach, "aws").rows if not row.may]
    assert len(shut) == 2  # of the service account with a role, and of the one without
    assert any("role team-tabular-role" in row.what for row in shut)


def test_rights_on_google_cloud_by_folder(rehearsed):
    reach = reach_of("demo-gcp", Resources(rehearsed("demo-gcp").resources), "vision")
    (own,) = rows_of(reach, "gcp", "bucket acme-demo-gcp-checkpoints, teams/vision/")
    assert own.may == ("list", "read", "write", "delete")
    assert "team-vision-checkpoints" in own.why
    (data,) = rows_of(reach, "gcp", "bucket acme-demo-gcp-data")[1:]
    assert data.may == ("list", "read")
    told = [thing for row in section(reach, "gcp").rows if row.may for thing in row.what]
    assert not [thing for thing in told if "tabular" in thing or "key" in thing or "secret" in thing]


def test_what_has_googles_addresses_is_all_of_google(rehearsed):
    """Private access leads to every service: what of them a pod may use, its rights say."""
    reach = reach_of("demo-gcp", Resources(rehearsed("demo-gcp").resources), "vision")
    (row,) = rows_of(reach, "network", "Google's services")
    assert row.may == ("TCP 443",)
    (names,) = rows_of(reach, "network", "names that are looked up")
    assert names.may == ("every one",) and "Cloud DNS" in names.why


def test_rights_in_the_cluster(reach):
    (jobs,) = rows_of(reach, "people", "jobs")
    assert {"read", "create", "delete"} <= set(jobs.may)
    assert "team-vision" in jobs.why
    assert not rows_of(reach, "people", "secrets")
    assert not [row for row in section(reach, "service_accounts").rows if "pods" in row.what]


def test_volumes_and_queues(reach):
    (checkpoints,) = rows_of(reach, "volumes", "checkpoints")
    assert checkpoints.may == ("read", "write")
    assert "teams/vision/" in checkpoints.why
    queue, smoke = section(reach, "queues").rows
    assert any("train-reserved" in share for share in queue.may)
    assert "vision" in queue.why
    assert smoke.what == ("smoke",)


@pytest.mark.parametrize(
    ("spec", "may"),
    [
        ({"accessModes": ["ReadWriteMany"]}, ("read", "write")),
        ({"accessModes": ["ReadOnlyMany"]}, ("read",)),
        ({"accessModes": ["ReadWriteMany"], "mountOptions": ["ro"]}, ("read",)),
        ({"accessModes": ["ReadWriteMany"], "csi": {"readOnly": True}}, ("read",)),
    ],
)
def test_a_volume_that_is_read_only(spec, may):
    claim = {"metadata": {"name": "data", "namespace": "a"}, "spec": {"volumeName": "v"}}
    volume = {"metadata": {"name": "v"}, "spec": spec}
    found = volumes(Resources([resource(VOLUME_CLAIM, "c", claim), resource(VOLUME, "v", volume)]), "a")
    assert [row.may for row in found.rows] == [may]


def test_an_unknown_team_is_told_with_those_that_exist(recorded):
    with pytest.raises(
        UnknownTeam, match=r"no team 'visio'; its teams are language, tabular, vision \(did you mean vision"
    ):
        reach_of("demo", recorded, "visio")
    with pytest.raises(UnknownTeam, match="name a team; its teams are language"):
        reach_of("demo", recorded, "")
    with pytest.raises(UnknownTeam, match="has no teams"):
        reach_of("empty", Resources([]), "vision")


def test_rows_that_say_the_same_are_one():
    rows = [Row(("a",), ("x",), "why"), Row(("b",), (), "why"), Row(("c", "a"), ("x",), "why")]
    assert together(rows) == (Row(("a", "c"), ("x",), "why"), Row(("b",), (), "why"))


def test_table_and_json_hold_the_same(reach):
    found = reach.as_json()
    assert (found["stack"], found["team"], found["namespace"]) == ("demo", "vision", "team-vision")
    assert [key for key in found if isinstance(found[key], list)] == [one.name for one in reach.sections]
    text = as_text(lambda out: out.print(report(reach)), soft_wrap=True)
    for one in reach.sections:
        assert one.title in text
        for row in one.rows:
            assert ", ".join(row.may) in text
            assert row.why in text
