"""What a change would be refused for, what it loses, whom it interrupts; and what is none of that."""

import dataclasses

import pytest

from tests.change.changes import rehearsed_with
from tests.rehearsal.change.changing import between, changed, findings, option, told
from tests.rehearsal.refusals.builders import obj, resource
from tests.rehearsal.works.mistakes import both, drop, edit, put
from trainyard.recorded.model import Secret
from trainyard.rehearsal.change.compare import compare
from trainyard.rehearsal.change.earlier import Earlier
from trainyard.rehearsal.change.judge import effects, judged
from trainyard.rehearsal.change.model import Operation

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
SUBNET = "aws:ec2/subnet:Subnet"
CLUSTER = "aws:eks/cluster:Cluster"
DATABASE = "aws:rds/instance:Instance"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
PRIORITY = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
POOL = "gpu-nodes-train-spot"
ZONE_B = "network-private-us-east-1b"


def naming(type_, name, path, value):
    return edit(type_, name, put(path, value))


WRONG = {
    "the database's key": (naming(DATABASE, "acme-demo-mlflow", "kmsKeyId", "arn:aws:kms:other"), "change-protected"),
    "the data bucket goes": (drop("aws:s3/bucket:Bucket", "acme-demo-data"), "change-protected"),
    "the service network": (
        naming(CLUSTER, "cluster-cluster", "kubernetesNetworkConfig.serviceIpv4Cidr", "172.21.0.0/16"),
        "change-protected",
    ),
    "the network": (naming("aws:ec2/vpc:Vpc", "network-vpc", "cidrBlock", "10.9.0.0/16"), "change-other-network"),
    "a version back": (naming(CLUSTER, "cluster-cluster", "version", "1.34"), "change-kubernetes-version"),
    "two versions at once": (naming(CLUSTER, "cluster-cluster", "version", "1.37"), "change-kubernetes-version"),
    "the control plane moves": (
        both(
            naming(SUBNET, "network-control-us-east-1c", "availabilityZone", "us-east-1d"),
        ),
        "change-control-plane-zones",
    ),
    "an older database": (naming(DATABASE, "acme-demo-mlflow", "engineVersion", "16"), "change-database-version"),
    "a major version": (naming(DATABASE, "acme-demo-mlflow", "engineVersion", "18"), "change-database-version"),
    "a smaller disk": (naming(DATABASE, "acme-demo-mlflow", "allocatedStorage", 20), "change-database-storage"),
    "an older node image": (
        naming(NODE_GROUP, POOL, "releaseVersion", "1.35.6-20260101"),
        "change-node-version",
    ),
    "older nodes": (naming(NODE_GROUP, POOL, "version", "1.34"), "change-node-version"),
    "a claim that grows": (
        naming(CLAIM, "volumes-vision-data-claim", "spec.resources.requests.storage", "2Ti"),
        "change-claim-size",
    ),
    "a claim that shrinks": (
        naming(CLAIM, "volumes-vision-data-claim", "spec.resources.requests.storage", "1Gi"),
        "change-claim-size",
    ),
    "another volume mode": (
        naming(CLAIM, "volumes-vision-data-claim", "spec.volumeMode", "Block"),
        "change-immutable",
    ),
    "another priority": (naming(PRIORITY, "teams-cpu-only", "value", 7), "change-immutable"),
    "swapped addresses": (
        both(
            naming(SUBNET, ZONE_B, "cidrBlock", "10.0.64.0/20"),
            naming(SUBNET, "network-private-us-east-1a", "cidrBlock", "10.0.32.0/20"),
        ),
        "change-subnet-cidr-taken",
    ),
    "another account": (
        naming("pulumi:providers:aws", "aws", "allowedAccountIds", '["999999999999"]'),
        "change-other-account",
    ),
}

LOOKED_AT = {
    "another machine": (naming(NODE_GROUP, POOL, "instanceTypes[0]", "p5.48xlarge"), "change-ends-jobs"),
    "a pool goes": (drop(NODE_GROUP, POOL), "change-ends-jobs"),
    "a newer node image": (naming(NODE_GROUP, POOL, "releaseVersion", "1.35.9-20271231"), "change-rolls-nodes"),
    "another template": (
        naming(TEMPLATE, f"{POOL}-template", "metadataOptions.httpPutResponseHopLimit", 7),
        "change-rolls-nodes",
    ),
    "fewer nodes": (naming(NODE_GROUP, POOL, "scalingConfig.maxSize", 1), "change-size-smaller"),
    "nodes that always run": (naming(NODE_GROUP, POOL, "scalingConfig.minSize", 1), "change-size-recorded"),
    "a team goes": (drop("kubernetes:core/v1:Namespace", "teams-vision-namespace"), "change-empties-namespace"),
}

HARMLESS = {
    "nothing": lambda resources: list(resources),
    "more nodes": naming(NODE_GROUP, POOL, "scalingConfig.maxSize", 9),
    "a desired size, which is ignored": naming(NODE_GROUP, POOL, "scalingConfig.desiredSize", 2),
    "a tag of the network": naming("aws:ec2/vpc:Vpc", "network-vpc", "tagsAll.owner", "somebody"),
    "a tag of the data": naming("aws:s3/bucket:Bucket", "acme-demo-data", "tagsAll.owner", "somebody"),
    "a tag of a template": naming(TEMPLATE, f"{POOL}-template", "tagsAll.owner", "somebody"),
    "one version up": naming(CLUSTER, "cluster-cluster", "version", "1.36"),
    "a larger disk": naming(DATABASE, "acme-demo-mlflow", "allocatedStorage", 100),
    "a named minor of the same major": naming(DATABASE, "acme-demo-mlflow", "engineVersion", "17.6"),
    "more is logged": naming(CLUSTER, "cluster-cluster", "enabledClusterLogTypes", ["api"]),
    "labels of nodes": naming(NODE_GROUP, POOL, "labels.more", "yes"),
    "another zone's subnet": naming(SUBNET, "network-isolated-us-east-1c", "tags", {"a": "b"}),
    "a quota": naming("kubernetes:core/v1:ResourceQuota", "teams-vision-quota", "spec.hard.pods", "7"),
}


@pytest.fixture(scope="module")
def demo(rehearsed):
    return rehearsed("demo")


def of(demo, what):
    """A change of demo; where there is one account, from it."""
    named = naming("pulumi:providers:aws", "aws", "allowedAccountIds", '["123456789012"]')
    return named(demo.known.resources) if what == "another account" else demo.known.resources


@pytest.mark.parametrize("what", WRONG)
def test_what_must_not_be_done(what, demo):
    change, rule = WRONG[what]
    base = dataclasses.replace(demo, known=dataclasses.replace(demo.known, resources=list(of(demo, what))))
    found = told(changed(base, change))
    assert found.get(rule) == "error", found


@pytest.mark.parametrize("what", LOOKED_AT)
def test_what_is_to_be_looked_at(what, demo):
    change, rule = LOOKED_AT[what]
    found = told(changed(demo, change))
    assert found.get(rule) == "warning" and "error" not in found.values(), found


@pytest.mark.parametrize("what", HARMLESS)
def test_what_harms_nobody(what, demo):
    assert told(changed(demo, HARMLESS[what])) == {}


def test_what_is_protected_today_counts_whatever_the_program_says_of_tomorrow(demo):
    lifted = both(
        option("acme-demo-mlflow", protect=False), naming(DATABASE, "acme-demo-mlflow", "username", "another")
    )
    assert told(changed(demo, lifted))["change-protected"] == "error"


def test_what_nobody_protects_loses_its_data(demo):
    unprotected = option("acme-demo-data", protect=False)(demo.known.resources)
    base = dataclasses.replace(demo, known=dataclasses.replace(demo.known, resources=unprotected))
    gone = changed(base, drop("aws:s3/bucket:Bucket", "acme-demo-data"))
    assert told(gone)["change-loses-data"] == "error"
    (finding,) = findings(gone, "change-loses-data")
    assert "would be deleted" in finding.message
    retained = option("acme-demo-data", protect=False, retain_on_delete=True)(demo.known.resources)
    base = dataclasses.replace(demo, known=dataclasses.replace(demo.known, resources=retained))
    kept = told(changed(base, drop("aws:s3/bucket:Bucket", "acme-demo-data")))
    assert (kept["change-left-behind"], "change-loses-data" in kept) == ("warning", False)


def test_a_claim_whose_volume_goes_with_it():
    def stack(policy, *, claimed=True):
        class_ = obj("storage.k8s.io/v1", "StorageClass", "disks", provisioner="ebs.csi.aws.com", **policy)
        class_ = dataclasses.replace(class_, type="kubernetes:storage.k8s.io/v1:StorageClass")
        spec = {"storageClassName": "disks", "resources": {"requests": {"storage": "10Gi"}}}
        return [class_, *([obj("v1", "PersistentVolumeClaim", "work", spec=spec)] if claimed else [])]

    def lost(policy):
        return told(between(stack(policy), stack(policy, claimed=False)))

    assert lost({"reclaimPolicy": "Delete"}) == lost({}) == {"change-loses-data": "error"}
    assert lost({"reclaimPolicy": "Retain"}) == {}
    before, after = stack({}), stack({}, claimed=False)
    assert told(between(before[1:], after[1:])) == {"change-loses-data": "warning"}, "of another stack's class"


@pytest.mark.parametrize(
    ("class_", "request_", "rules"),
    [
        ({"allowVolumeExpansion": True}, "20Gi", {}),
        ({"allowVolumeExpansion": False}, "20Gi", {"change-claim-size": "error"}),
        ({}, "20Gi", {"change-claim-size": "error"}),
        ({"allowVolumeExpansion": True}, "5Gi", {"change-claim-size": "error"}),
        ({"allowVolumeExpansion": True}, "10240Mi", {}),
    ],
)
def test_a_claim_grows_where_its_class_lets_it(class_, request_, rules):
    def stack(size):
        disks = obj("storage.k8s.io/v1", "StorageClass", "disks", provisioner="ebs.csi.aws.com", **class_)
        disks = dataclasses.replace(disks, type="kubernetes:storage.k8s.io/v1:StorageClass")
        spec = {"storageClassName": "disks", "resources": {"requests": {"storage": size}}}
        return [disks, obj("v1", "PersistentVolumeClaim", "work", spec=spec)]

    assert told(between(stack("10Gi"), stack(request_))) == rules


def test_lustre_that_shrinks_loses_what_it_holds():
    def stack(size):
        inputs = {"storageCapacity": size, "deploymentType": "PERSISTENT_2", "subnetIds": ["subnet-1"]}
        return [resource(LUSTRE, "scratch", inputs)]

    assert told(between(stack(4800), stack(2400))) == {"change-loses-data": "error"}
    assert told(between(stack(4800), stack(7200))) == {}


def test_a_new_zone_takes_addresses_that_nobody_has(demo):
    def zone(cidr):
        def change(resources):
            (like,) = (each for each in resources if each.name == ZONE_B and each.type == SUBNET)
            inputs = {**like.inputs, "cidrBlock": cidr, "availabilityZone": "us-east-1d"}
            return [*resources, dataclasses.replace(like, urn=f"{like.urn}-d", name=f"{ZONE_B}-d", inputs=inputs)]

        return change

    (living,) = (each for each in demo.resources if each.name == ZONE_B and each.type == SUBNET)
    assert told(changed(demo, zone(living.inputs["cidrBlock"]))) == {"change-subnet-cidr-taken": "error"}
    assert told(changed(demo, zone("10.0.240.0/20"))) == {}


def test_the_recorded_size_is_certain_in_a_state_alone(demo):
    change = naming(NODE_GROUP, POOL, "scalingConfig.minSize", 1)
    assert told(changed(demo, change))["change-size-recorded"] == "warning"
    assert told(changed(demo, change, deployed=True))["change-size-recorded"] == "error"


def test_whom_a_change_interrupts(demo):
    said = {each.what: each for each in effects(changed(demo, LOOKED_AT["another machine"][0]))}
    pool = said["pool train (spot)"]
    assert "every job that runs on them" in pool.happens and pool.seconds > 0
    rolled = effects(changed(demo, LOOKED_AT["another template"][0]))
    assert [(each.what, "drained one after the other" in each.happens) for each in rolled] == [
        ("pool train (spot)", True)
    ]
    assert effects(changed(demo, HARMLESS["more nodes"])) == ()
    (database,) = effects(changed(demo, naming(DATABASE, "acme-demo-mlflow", "instanceClass", "db.m7g.large")))
    assert "restarts in its maintenance window" in database.happens
    upgraded = effects(changed(demo, HARMLESS["one version up"]))
    assert [(each.what, each.seconds >= 420) for each in upgraded] == [("the cluster", True)]


def test_no_message_shows_a_secret():
    def stack(user):
        inputs = {"username": Secret(user), "engine": "postgres", "allocatedStorage": 20}
        return [dataclasses.replace(resource(DATABASE, "db", inputs), protect=True)]

    (finding,) = judged(between(stack("hunter2-before"), stack("hunter2-after")))
    assert finding.rule == "change-protected" and "hunter2" not in str(finding)


def test_to_name_the_account_changes_nothing_that_stands(rehearsed, tmp_path_factory):
    named = rehearsed_with(tmp_path_factory.mktemp("named"), "demo", aws={"accountId": "210987654321"})
    before = rehearsed("demo").known.resources
    change = compare(Earlier("before", tuple(before)), named.known.resources, named.preview.resources)
    assert not change.of(Operation.REPLACE, Operation.DELETE)
    assert told(change) == {}


def test_what_is_protected_no_longer_is_told(demo):
    assert told(changed(demo, option("acme-demo-data", protect=False))) == {"change-unprotects": "warning"}


VOLUME = "kubernetes:core/v1:PersistentVolume"


def test_a_volume_that_is_bound_is_waited_for_for_ever(demo):
    """Its new one has the same name, so that the old one has to go first, and the claim on it stays."""
    name = "volumes-vision-data"
    moved = naming(VOLUME, f"{name}-volume", "spec.csi.volumeHandle", "another")
    (finding,) = findings(changed(demo, moved), "change-waits-for-ever")
    assert (finding.level, finding.name) == ("error", f"{name}-volume") and f"{name}-claim" in finding.message
    both_go = both(drop(VOLUME, f"{name}-volume"), drop(CLAIM, f"{name}-claim"))
    assert "change-waits-for-ever" not in told(changed(demo, both_go))


@pytest.mark.parametrize(
    ("claim", "pod_uses", "waits"),
    [("work", "work", True), (None, "work", True), (None, "other", False), (None, None, False)],
    ids=["made anew", "goes", "goes and is let go", "goes with the pod"],
)
def test_a_claim_that_a_service_uses_is_waited_for(claim, pod_uses, waits):
    def stack(claim, uses, mode="ReadWriteOnce"):
        spec = {"storageClassName": "", "volumeName": "disk", "accessModes": [mode]}
        volumes = [{"name": "work", "persistentVolumeClaim": {"claimName": uses}}]
        found = [obj("v1", "PersistentVolumeClaim", "work", "ns", spec=spec)] if claim else []
        made = obj("apps/v1", "Deployment", "server", "ns", spec={"template": {"spec": {"volumes": volumes}}})
        return [*found, *([made] if uses else [])]

    change = between(stack("work", "work"), stack(claim, pod_uses, "ReadWriteMany"))
    assert ("change-waits-for-ever" in told(change)) is waits


def test_a_pool_that_goes_is_emptied_by_its_name(demo):
    for change in (LOOKED_AT["another machine"][0], LOOKED_AT["a pool goes"][0]):
        (finding,) = findings(changed(demo, change), "change-ends-jobs")
        assert "`trainyard drain STACK --pool train` waits until nothing runs there" in finding.hint


def test_whose_jobs_end_is_told_and_what_waits_for_them(demo):
    """Another machine and another image: the queues of the pool's flavors, and no other pool's."""
    for what, rule in (("another machine", "change-ends-jobs"), ("a newer node image", "change-rolls-nodes")):
        (finding,) = findings(changed(demo, LOOKED_AT[what][0]), rule)
        assert "those of team-language/default, team-tabular/default, team-vision/default" in finding.message
        assert "(flavor train-" in finding.message
        assert "`trainyard upgrade STACK --from REF --run` holds the queues" in finding.hint
    (gone,) = findings(changed(demo, LOOKED_AT["a pool goes"][0]), "change-ends-jobs")
    assert "trainyard upgrade" not in gone.hint, "nothing takes its place"


def test_nodes_without_queues_have_nobodys_jobs(demo):
    (finding,) = findings(
        changed(demo, naming(NODE_GROUP, "cluster-system", "instanceTypes[0]", "m7i.2xlarge")), "change-ends-jobs"
    )
    assert "those of" not in finding.message
    assert "trainyard upgrade" not in finding.hint
