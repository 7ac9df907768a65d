"""Addresses of a store that a map tells pods: told where their account may do nothing there and no server is named."""

from __future__ import annotations

import pytest

from tests.rehearsal.works.mistakes import Change, added, both, edit, put, told
from trainyard.recorded.types import CONFIG_MAP
from trainyard.rehearsal.rehearse import Rehearsal

MAP = "teams-vision-storage"
STACKS = ("demo", "demo-gcp")


def bucket_of(rehearsal: Rehearsal, tier: str) -> str:
    """`s3://` or `gs://` and the bucket of a tier."""
    maps = [one for one in rehearsal.known.resources if (one.type, one.name) == (CONFIG_MAP, MAP)]
    scheme, _, checkpoints = maps[0].inputs["data"]["CHECKPOINTS_URI"].partition("://")
    names = {one.id for one in rehearsal.known.resources if one.type.endswith(":Bucket")}
    outputs = {str(one.outputs.get("bucket") or one.outputs.get("name")) for one in rehearsal.known.resources}
    kind = checkpoints.partition("/")[0].partition("-checkpoint")[0]
    found = {name for name in {*map(str, names), *outputs} if name.startswith(f"{kind}-{tier}")}
    return f"{scheme}://{min(found, key=len)}"


def telling(address: str, **more: str) -> Change:
    return edit(
        CONFIG_MAP, MAP, put("data.ARTIFACTS_URI", address), *(put(f"data.{key}", text) for key, text in more.items())
    )


def found(rehearsal: Rehearsal, change: Change) -> list[tuple[str, str, str]]:
    return [(one.rule, one.path, one.level) for one in told(rehearsal, change, ours=True)]


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("folder", ["/mlflow/teams/vision", ""])
def test_a_folder_that_is_nobodys_is_told(rehearsed, stack, folder):
    rehearsal = rehearsed(stack)
    change = telling(bucket_of(rehearsal, "artifacts") + folder)
    assert found(rehearsal, change) == [("rights-pod-lacks", "data.ARTIFACTS_URI", "warning")]


@pytest.mark.parametrize("stack", STACKS)
def test_what_a_server_serves_is_not_told(rehearsed, stack):
    rehearsal = rehearsed(stack)
    address = f"{bucket_of(rehearsal, 'artifacts')}/mlflow"
    assert found(rehearsal, telling(address, MLFLOW_TRACKING_URI="https://mlflow.mlflow.svc:5000")) == []


@pytest.mark.parametrize("stack", STACKS)
def test_what_may_be_read_is_not_told(rehearsed, stack):
    rehearsal = rehearsed(stack)
    assert found(rehearsal, telling(f"{bucket_of(rehearsal, 'data')}/data/teams/vision")) == []


def test_pods_with_keys_of_their_own_may_reach_more(rehearsed):
    rehearsal = rehearsed("demo")
    change = telling(f"{bucket_of(rehearsal, 'artifacts')}/mlflow")
    keys = added("core/v1:Secret", "store-keys", {"stringData": {"AWS_ACCESS_KEY_ID": "x"}}, "team-vision")
    assert ("rights-pod-lacks", "data.ARTIFACTS_URI", "warning") not in found(rehearsal, both(change, keys))
