"""What predefined roles hold, by the table of those that hold what is asked for."""

import json
from importlib.resources import files

import pytest

from trainyard.recorded.resources import Resources
from trainyard.rehearsal.refusals.gcp.generate_roles import asked
from trainyard.rehearsal.works.rights.gcp.roles import Roles

ROLES = Roles(Resources(()))


@pytest.mark.parametrize(
    ("role", "permission", "held"),
    [
        ("roles/container.defaultNodeServiceAccount", "logging.logEntries.create", True),
        ("roles/container.defaultNodeServiceAccount", "monitoring.timeSeries.create", True),
        ("roles/monitoring.viewer", "monitoring.timeSeries.create", False),
        ("roles/owner", "storage.buckets.delete", True),
        ("roles/storage.legacyBucketWriter", "storage.objects.create", True),
        ("roles/storage.objectViewer", "storage.buckets.setIamPolicy", False),  # which no room asks for
        ("roles/artifactregistry.writer", "artifactregistry.repositories.uploadArtifacts", True),
        ("roles/monitoring.ofTomorrow", "monitoring.timeSeries.create", None),
        ("roles/monitoring.viewer", "monitoring.timeSeries.dream", None),
        ("projects/p/roles/own", "monitoring.timeSeries.create", None),
    ],
)
def test_what_a_role_holds(role, permission, held):
    assert ROLES.holds(role, permission) is held


def test_the_table_has_everything_that_is_asked_for_and_that_some_role_holds():
    data = files("trainyard.rehearsal.refusals").joinpath("data")
    services = json.loads(data.joinpath("gcp_permissions.json").read_text(encoding="utf-8"))["permissions"]
    known = {
        f"{service}.{what}.{do}" for service, of in services.items() for what, does in of.items() for do in does.split()
    }
    holders = json.loads(data.joinpath("gcp_holders.json").read_text(encoding="utf-8"))["holders"]
    assert asked() & known <= set(holders)
