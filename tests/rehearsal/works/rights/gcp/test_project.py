"""The evaluator of recorded grants: where a role holds, what it holds, for whom and on which condition."""

from __future__ import annotations

import json

import pytest

from tests.policies.truth import made
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.rights.gcp.conditions import holds
from trainyard.rehearsal.works.rights.gcp.members import Caller, names
from trainyard.rehearsal.works.rights.gcp.project import LIST_PREFIX, Project
from trainyard.rehearsal.works.rights.principals import Pod

READER = Caller("the reader", account="reader@p.iam.gserviceaccount.com")
MEMBER = f"serviceAccount:{READER.account}"
VIEWER = "roles/storage.objectViewer"
OBJECT = "projects/_/buckets/data/objects/teams/a/1"
RING = "projects/p/locations/l/keyRings/r"
KEY = f"{RING}/cryptoKeys/k"
POOL = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p.svc.id.goog"
PODS = Caller("pods", pod=Pod("team", "trainer"), pool="p.svc.id.goog")


def bucket(**inputs):
    return made("gcp:storage/bucket:Bucket", "data", {"uniformBucketLevelAccess": True, **inputs}, id="data")


def granted(role=VIEWER, on="gcp:storage/bucketIAMMember:BucketIAMMember", name="grant", **inputs):
    return made(on, name, {"bucket": "data", "role": role, "member": MEMBER, **inputs})


def below(team):
    return {"expression": f'resource.name.startsWith("projects/_/buckets/data/objects/teams/{team}/")'}


def asked(*resources, permission="storage.objects.get", resource=OBJECT, said=None, who=READER):
    return Project(Resources(resources)).may(who, permission, resource, said).answer


@pytest.mark.parametrize(
    ("grant", "answer"),
    [
        (granted(), "yes"),
        (granted(member="serviceAccount:other@p.iam.gserviceaccount.com"), "no"),
        (granted(member="allUsers"), "yes"),
        (granted(member="group:all@p.example"), "unknown"),
        (granted(member=UNKNOWN), "unknown"),
        (granted("roles/storage.objectCreator"), "no"),
        (granted("roles/storage.somethingNew"), "unknown"),
        (granted(bucket="other"), "no"),
        (granted(bucket=UNKNOWN), "unknown"),
        (granted(condition=below("a")), "yes"),
        (granted(condition=below("b")), "no"),
        (granted(condition={"expression": 'request.time < timestamp("2030-01-01T00:00:00Z")'}), "unknown"),
        (granted(condition=UNKNOWN), "unknown"),
        (granted(on="gcp:storage/managedFolderIamMember:ManagedFolderIamMember", managedFolder="teams/a/"), "yes"),
        (granted(on="gcp:storage/managedFolderIamMember:ManagedFolderIamMember", managedFolder="teams/ab/"), "no"),
        (granted(on="gcp:projects/iAMMember:IAMMember", project="p"), "yes"),
        (granted(on="gcp:storage/bucketIAMBinding:BucketIAMBinding", members=["allAuthenticatedUsers", MEMBER]), "yes"),
        (granted(on="gcp:storage/bucketIAMBinding:BucketIAMBinding", members=[]), "no"),
        (
            granted(
                on="gcp:storage/bucketIAMPolicy:BucketIAMPolicy",
                policyData=json.dumps({"bindings": [{"role": VIEWER, "members": [MEMBER]}]}),
            ),
            "yes",
        ),
        (granted(on="gcp:storage/bucketIAMPolicy:BucketIAMPolicy", policyData=UNKNOWN), "unknown"),
    ],
)  # fmt: skip
def test_a_grant_holds_for_its_member_its_role_its_place_and_its_condition(grant, answer):
    assert asked(bucket(), grant) == answer


def test_a_bucket_with_access_lists_and_a_deny_policy_leave_the_answer_open():
    assert asked(bucket(uniformBucketLevelAccess=False)) == "unknown"
    deny = made("gcp:iam/denyPolicy:DenyPolicy", "deny", {})
    assert asked(bucket(), granted(), deny) == "unknown"
    assert asked(bucket(), deny) == "no"


def test_a_list_is_asked_of_the_folder_that_it_names():
    folder = granted(on="gcp:storage/managedFolderIamMember:ManagedFolderIamMember", managedFolder="teams/a/")
    for prefix, answer in (("teams/a/", "yes"), ("teams/a/run-1/", "yes"), ("teams/", "no"), ("", "no")):
        found = asked(
            bucket(), folder, permission="storage.objects.list", resource="projects/_/buckets/data",
            said={LIST_PREFIX: prefix},
        )  # fmt: skip
        assert found == answer, prefix


def test_a_ring_gives_its_keys_what_it_has():
    ring = made("gcp:kms/keyRing:KeyRing", "r", {}, id=RING)
    key = made("gcp:kms/cryptoKey:CryptoKey", "k", {"keyRing": RING}, id=KEY)
    role = "roles/cloudkms.cryptoKeyDecrypter"
    on_ring = granted(role, "gcp:kms/keyRingIAMMember:KeyRingIAMMember", keyRingId=RING)
    use = "cloudkms.cryptoKeyVersions.useToDecrypt"
    assert asked(ring, key, on_ring, permission=use, resource=KEY) == "yes"
    assert asked(ring, key, permission=use, resource=KEY) == "no"
    assert asked(ring, on_ring, permission=use, resource=KEY) == "unknown"  # a key of somebody else's


def test_a_custom_role_holds_what_it_says():
    role = made(
        "gcp:projects/iAMCustomRole:IAMCustomRole",
        "peek",
        {"roleId": "peek", "permissions": ["storage.objects.get"]},
    )
    given = granted("projects/p/roles/peek")
    assert asked(bucket(), role, given) == "yes"
    assert asked(bucket(), role, given, permission="storage.objects.delete") == "no"
    assert asked(bucket(), given) == "unknown"


@pytest.mark.parametrize(
    ("member", "answer"),
    [
        (f"principal:{POOL}/subject/ns/team/sa/trainer", "yes"),
        (f"principal:{POOL}/subject/ns/team/sa/other", "no"),
        (f"principal:{POOL}/subject/ns/other/sa/trainer", "no"),
        (f"principal:{POOL.replace('/p.svc', '/q.svc')}/subject/ns/team/sa/trainer", "no"),
        ("serviceAccount:p.svc.id.goog[team/trainer]", "yes"),
        ("serviceAccount:p.svc.id.goog[team/other]", "no"),
        (f"principalSet:{POOL}/namespace/team", "yes"),
        (f"principalSet:{POOL}/namespace/other", "no"),
        (f"principalSet:{POOL}/*", "yes"),
        (f"principalSet:{POOL}/kubernetes.cluster/https://container.googleapis.com/v1/projects/p", "maybe"),
        ("serviceAccount:somebody@p.iam.gserviceaccount.com", "no"),
        ("allUsers", "yes"),
    ],
)
def test_a_member_names_pods(member, answer):
    assert names(member, PODS) == answer


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ('resource.type == "storage.googleapis.com/Object"', True),
        ('resource.service == "secretmanager.googleapis.com"', False),
        ('resource.name.endsWith("/1") && !resource.name.startsWith("projects/x")', True),
        (f'api.getAttribute("{LIST_PREFIX}", "").startsWith("teams/a/")', True),
        ('api.getAttribute("another", "") == ""', True),
        ('resource.name.extract("/objects/teams/{team}/") == "a"', True),
        ("request.time.getHours() < 9", None),
        ("resource.matchTag('p/env', 'prod')", None),
        ("no expression (", None),
    ],
)
def test_a_condition_holds_does_not_or_is_not_known(expression, found):
    assert holds(expression, OBJECT, "storage.googleapis.com/Object", {LIST_PREFIX: "teams/a/x"}) is found


def test_a_group_may_have_any_account_in_it_but_the_one_that_it_may_act_as():
    jobs = made(
        "gcp:serviceaccount/account:Account",
        "jobs",
        {"accountId": "jobs"},
        id="jobs",
        outputs={"email": READER.account},
    )
    other = Caller("who deploys", account="deploys@p.iam.gserviceaccount.com")
    deploys = made("gcp:serviceaccount/account:Account", "deploys", {}, id="deploys", outputs={"email": other.account})
    group = "group:people@p.example"
    acts = made(
        "gcp:serviceaccount/iAMMember:IAMMember",
        "acts",
        {"serviceAccountId": "jobs", "role": "roles/iam.serviceAccountUser", "member": group},
    )
    stack = (bucket(), jobs, deploys, acts, granted(member=group))
    assert asked(*stack) == "no"
    assert asked(*stack, who=other) == "unknown"
