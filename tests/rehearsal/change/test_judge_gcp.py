"""What a change on Google Cloud would be refused for, what it loses, whom it interrupts; and what is none of that."""

import dataclasses

import pytest

from tests.rehearsal.change.changing import between, changed, findings, operations, option, told
from tests.rehearsal.refusals.builders import resource
from tests.rehearsal.works.mistakes import both, drop, edit, put
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.change.judge import effects
from trainyard.rehearsal.change.model import Operation

CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"
DATABASE = "gcp:sql/databaseInstance:DatabaseInstance"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
BUCKET = "gcp:storage/bucket:Bucket"
LUSTRE = "gcp:lustre/instance:Instance"
FILESTORE = "gcp:filestore/instance:Instance"
POOL = "gpu-nodes-train-spot"
SQL = "acme-demo-gcp-mlflow"
RANGE = "secondaryIpRanges[{}].ipCidrRange"


@pytest.fixture(scope="module")
def demo(rehearsed):
    """The program, as if it sent the version of its control plane itself."""
    found = rehearsed("demo-gcp")
    sent = option("cluster-cluster", ignore_changes=("nodeConfig",))(found.known.resources)
    return dataclasses.replace(found, known=dataclasses.replace(found.known, resources=sent))


def pool(path, value):
    return edit(NODE_POOL, POOL, put(path, value))


def cluster(path, value):
    return edit(CLUSTER, "cluster-cluster", put(path, value))


def database(path, value):
    return edit(DATABASE, SQL, put(path, value))


def subnetwork(path, value):
    return edit(SUBNETWORK, "network-nodes", put(path, value))


WRONG = {
    "a version back": (cluster("minMasterVersion", "1.34"), "change-kubernetes-version"),
    "two versions at once": (cluster("minMasterVersion", "1.37.2-gke.1000"), "change-kubernetes-version"),
    "another region": (cluster("location", "us-east1"), "change-protected"),
    "other ranges of the cluster": (
        cluster("ipAllocationPolicy.servicesSecondaryRangeName", "other"),
        "change-protected",
    ),
    "an older database": (database("databaseVersion", "POSTGRES_17"), "change-database-version"),
    "another engine": (database("databaseVersion", "MYSQL_8_4"), "change-database-version"),
    "a smaller disk": (database("settings.diskSize", 20), "change-protected"),
    "another key of the database": (database("encryptionKeyName", "projects/p/other"), "change-protected"),
    "a bucket elsewhere": (edit(BUCKET, "acme-demo-gcp-data", put("location", "EU")), "change-protected"),
    "a bucket goes": (drop(BUCKET, "acme-demo-gcp-data"), "change-protected"),
    "other addresses of pods": (subnetwork(RANGE.format(0), "10.4.0.0/15"), "change-subnet-in-use"),
    "no addresses of services": (subnetwork("secondaryIpRanges[1].rangeName", "other"), "change-subnet-in-use"),
    "fewer addresses of nodes": (subnetwork("ipCidrRange", "10.0.0.0/22"), "change-subnet-cidr-taken"),
}

LOOKED_AT = {
    "another machine": (pool("nodeConfig.machineType", "a2-ultragpu-8g"), "change-rolls-nodes"),
    "a larger disk of nodes": (pool("nodeConfig.diskSizeGb", 400), "change-rolls-nodes"),
    "another image": (pool("nodeConfig.imageType", "UBUNTU_CONTAINERD"), "change-rolls-nodes"),
    "another version of nodes": (pool("version", "1.35.2-gke.100"), "change-rolls-nodes"),
    "other GPUs": (pool("nodeConfig.guestAccelerators[0].count", 4), "change-ends-jobs"),
    "another driver": (
        pool("nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion", "DEFAULT"),
        "change-ends-jobs",
    ),
    "a zone less": (pool("nodeLocations", ["us-central1-a"]), "change-ends-jobs"),
    "fewer nodes at most": (pool("autoscaling.totalMaxNodeCount", 1), "change-size-smaller"),
    "a pool goes": (drop(NODE_POOL, POOL), "change-ends-jobs"),
    "a newer database": (database("databaseVersion", "POSTGRES_19"), "change-database-version"),
    "a database that nobody protects": (option(SQL, protect=False), "change-unprotects"),
}

HARMLESS = {
    "nothing": lambda resources: list(resources),
    "one version up": cluster("minMasterVersion", "1.36"),
    "more nodes at most": pool("autoscaling.totalMaxNodeCount", 9),
    "a zone more": edit(NODE_POOL, "gpu-nodes-tune-spot", put("nodeLocations[3]", "us-central1-f")),
    "labels of nodes": pool("nodeConfig.labels.more", "yes"),
    "taints of nodes": pool("nodeConfig.taints[0].value", "other"),
    "labels of a cloud's resource": pool("nodeConfig.resourceLabels.owner", "somebody"),
    "a larger disk": database("settings.diskSize", 100),
    "a larger database": database("settings.tier", "db-custom-4-15360"),
    "labels of the data": edit(BUCKET, "acme-demo-gcp-data", put("labels.owner", "somebody")),
    "more addresses of nodes": subnetwork("ipCidrRange", "10.0.0.0/19"),
    "what is logged": subnetwork("logConfig.flowSampling", 0.1),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_must_not_be_done(what, demo):
    change, rule = WRONG[what]
    found = told(changed(demo, change))
    assert found.get(rule) == "error", found


@pytest.mark.parametrize("what", LOOKED_AT)
def test_what_is_to_be_looked_at(what, demo):
    change, rule = LOOKED_AT[what]
    found = told(changed(demo, change))
    assert found.get(rule) == "warning" and "error" not in found.values(), found


@pytest.mark.parametrize("what", HARMLESS)
def test_what_harms_nobody(what, demo):
    assert told(changed(demo, HARMLESS[what])) == {}


@pytest.mark.parametrize("of_what_is", [False, True])
def test_what_nobody_knows_stops_no_judgement(of_what_is, demo):
    unknown = both(
        pool("nodeLocations", UNKNOWN),
        pool("upgradeSettings", UNKNOWN),
        subnetwork("secondaryIpRanges", UNKNOWN),
        database("databaseVersion", UNKNOWN),
        cluster("minMasterVersion", UNKNOWN),
    )
    assert "error" not in told(changed(demo, unknown, of_what_is=of_what_is)).values()


def test_a_version_that_the_program_ignores_reaches_no_cluster(rehearsed):
    """The release channel upgrades it, and the next state still says the first version."""
    whole = rehearsed("demo-gcp")
    assert told(changed(whole, cluster("minMasterVersion", "1.36"))) == {"change-version-not-sent": "warning"}
    assert told(changed(whole, cluster("minMasterVersion", "1.36"), deployed=True)) == {}
    assert operations(changed(whole, cluster("minMasterVersion", "1.36"))) == {}


def test_what_nobody_protects_goes_with_what_it_holds(demo):
    bare = option("cluster-cluster", protect=False)(option(SQL, protect=False)(demo.known.resources))
    base = dataclasses.replace(demo, known=dataclasses.replace(demo.known, resources=bare))
    assert told(changed(base, database("settings.diskSize", 20)))["change-loses-data"] == "error"
    found = changed(base, cluster("location", "us-east1"))
    assert told(found)["change-replaces-cluster"] == "error"
    assert "the cluster" in {each.what for each in effects(found)}


@pytest.mark.parametrize(
    ("type_", "before", "after", "rules"),
    [
        (LUSTRE, {"capacityGib": "36000"}, {"capacityGib": "18000"}, {"change-file-system-size": "error"}),
        (LUSTRE, {"capacityGib": "18000"}, {"capacityGib": "36000"}, {}),
        (LUSTRE, {"location": "a-b"}, {"location": "a-c"}, {"change-loses-data": "error"}),
        (
            LUSTRE,
            {"perUnitStorageThroughput": "500"},
            {"perUnitStorageThroughput": "250"},
            {"change-loses-data": "error"},
        ),
        (
            FILESTORE,
            {"tier": "BASIC_SSD", "fileShares": {"name": "home", "capacityGb": 4096}},
            {"tier": "BASIC_SSD", "fileShares": {"name": "home", "capacityGb": 2560}},
            {"change-file-system-size": "error"},
        ),
        (
            FILESTORE,
            {"tier": "REGIONAL", "fileShares": {"name": "home", "capacityGb": 4096}},
            {"tier": "REGIONAL", "fileShares": {"name": "home", "capacityGb": 2048}},
            {},
        ),
    ],
)
def test_file_systems_grow_only(type_, before, after, rules):
    assert told(between([resource(type_, "fast", before)], [resource(type_, "fast", after)])) == rules


def test_two_subnetworks_never_have_the_same_addresses():
    def network(*ranges):
        return [
            resource(SUBNETWORK, name, {"network": "n", "region": "a", "ipCidrRange": text}) for name, text in ranges
        ]

    before = network(("one", "10.0.0.0/20"))
    taken = between(before, network(("two", "10.0.8.0/21")))
    assert told(taken) == {"change-subnet-cidr-taken": "error"}
    assert told(between(before, network(("one", "10.0.0.0/20"), ("two", "10.0.16.0/20")))) == {}


def test_whom_a_change_interrupts(demo):
    def said(change):
        return {each.what: each.happens for each in effects(changed(demo, change))}

    rolled = said(LOOKED_AT["another machine"][0])["pool train (spot)"]
    assert "1 at a time, none of them beside an old one" in rolled
    beside = said(both(pool("upgradeSettings", {"maxSurge": 1}), pool("nodeConfig.diskSizeGb", 400)))
    assert "1 at a time;" in beside["pool train (spot)"]
    assert "every job that runs on them" in said(LOOKED_AT["other GPUs"][0])["pool train (spot)"]
    assert "us-central1-b" in said(LOOKED_AT["a zone less"][0])["pool train (spot)"]
    assert "`trainyard drain`" in said(drop(NODE_POOL, POOL))["pool train (spot)"]
    assert "restarts at once" in said(HARMLESS["a larger database"])[f"the database {SQL}"]
    assert "the API" not in str(said(HARMLESS["more nodes at most"])) and not said(HARMLESS["labels of nodes"])
    assert "upgraded in place" in said(HARMLESS["one version up"])["the cluster"]


def test_a_disk_that_shrinks_makes_another_database(demo):
    found = changed(demo, database("settings.diskSize", 20))
    assert operations(found)[SQL] is Operation.REPLACE
    (finding,) = [each for each in findings(found, "change-protected") if each.name == SQL]
    assert "settings.diskSize" in finding.path
