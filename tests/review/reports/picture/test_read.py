"""What a picture shows of recorded resources: our own stacks, other people's programs, and what cannot be read."""

from dataclasses import replace

import pytest

from tests.conftest import EKS, WHOLE
from tests.cost.recorded import node_group
from tests.review.reports.picture.scenes import GATEWAY, VPC, made, subnet, table
from trainyard.recorded.model import UNKNOWN, Secret
from trainyard.recorded.node_groups import gpu_node_groups
from trainyard.recorded.resources import Resources
from trainyard.review.reports.picture.layout import drawings
from trainyard.review.reports.picture.model import NodeGroupFigures, Pool
from trainyard.review.reports.picture.read import picture_of
from trainyard.review.reports.picture.words import said_of


def drawn_of(*resources, **more):
    found = picture_of("test", resources, **more)
    assert drawings(found)
    return found


def quota(flavor, gpus):
    return {"name": flavor, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": gpus}]}


def queue(name, *quotas, cohort="all"):
    spec = {"cohortName": cohort, "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": list(quotas)}]}
    return made("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue", name, {"metadata": {"name": name}, "spec": spec})


def flavor(name, pool, capacity):
    labels = {"ml.platform/pool": pool, "ml.platform/capacity": capacity}
    inputs = {"metadata": {"name": name}, "spec": {"nodeLabels": labels}}
    return made("kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor", name, inputs)


@pytest.mark.parametrize("stack", (*EKS, WHOLE))
def test_an_example_stack_is_shown_whole(rehearsed, stack):
    rehearsal = rehearsed(stack)
    found = drawn_of(*rehearsal.resources)
    [network], [cluster], [budget] = found.networks, found.clusters, found.budgets
    assert len(network.zones) == 3
    reached = {"public", "private", "isolated", "control plane"}
    assert {one.reach for zone in network.zones for one in zone.subnets} == reached
    assert cluster.network == network.urn and cluster.version
    resources = Resources(rehearsal.resources)
    assert sum(pool.gpus for pool in cluster.pools) == sum(group.gpus for group in gpu_node_groups(resources))
    assert [pool.gpu == "" for pool in cluster.pools] == [True, True] + [False] * (len(cluster.pools) - 2)
    stores = {"data", "checkpoints", "artifacts"} | ({"lustre"} if rehearsal.plan["ground"]["lustre"] else set())
    assert stores <= {store.name for store in found.stores}
    assert {team.name for team in found.teams} == {team["name"] for team in rehearsal.plan["core"]["teams"]}
    assert sum(team.gpus for team in found.teams) == sum(pool.gpus for pool in cluster.pools)
    assert [service.name for service in found.services] == ["MLflow"] and len(found.databases) == 1
    assert budget.limit == rehearsal.settings["monthlyBudgetUsd"] and budget.period == "a month"
    assert "?" not in said_of(found)


def test_tpu_slices_are_drawn_with_chips_beside_the_gpus(rehearsed):
    rehearsal = rehearsed("large-gcp")
    found = drawn_of(*rehearsal.resources)
    (cluster,) = found.clusters
    slices = cluster.pools[-1]
    assert (slices.name, slices.gpu, slices.chips_per_node, slices.chips, slices.gpus) == ("v6e", "", (4,), 48, 0)
    assert all(not pool.chips_per_node for pool in cluster.pools[:-1])
    assert sum(team.chips for team in found.teams) == 48, "each slice is somebody's"
    assert all(quota.pool != "v6e" for team in found.teams for quota in team.quotas), "chips are no GPUs"
    said = said_of(found)
    assert "pool v6e with 48 TPU chips at most" in said and " TPU chips" in said.split("Teams: ")[1]
    drawn = repr(drawings(found)).replace("\\xa0", " ")
    assert "48 chips at most" in drawn and "4 × TPU" in drawn


def test_a_pool_of_slices_that_cannot_be_read_is_told_as_such():
    pool = Pool("v6e", "", (NodeGroupFigures("urn", "v6e", None, None, None, 0, (), (), (), 4),))
    assert pool.chips is None and pool.chips_per_node == (4,)


def test_what_is_made_is_drawn_or_counted(rehearsed):
    demo = rehearsed("demo")
    found = drawn_of(*demo.resources)
    assert ("iam", sum(one.type.startswith("aws:iam/") for one in demo.resources)) in found.others


def test_an_empty_program_has_a_picture():
    found = drawn_of()
    assert said_of(found) == "Nothing is made."


def test_a_program_without_a_cluster_shows_what_it_has():
    bucket = made("aws:s3/bucket:Bucket", "website", {"bucket": "website-1"}, protect=True)
    function = made("aws:lambda/function:Function", "resize")
    found = drawn_of(bucket, function)
    assert [(store.name, store.kind, store.marks) for store in found.stores] == [
        ("website", "S3 bucket", ("protected",))
    ]
    assert found.others == (("lambda", 1),) and found.clusters == ()


def test_subnets_are_what_their_default_route_makes_them():
    inside, outside, closed, told = (subnet(name) for name in ("in", "out", "closed", "told"))
    everywhere = {"cidrBlock": "0.0.0.0/0"}
    found = drawn_of(
        *(VPC, GATEWAY, inside, outside, closed, told, subnet("open", mapPublicIpOnLaunch=True), subnet("main")),
        *table("to-nat", inside, {**everywhere, "natGatewayId": "nat-1"}),
        *table("to-gateway", outside, {**everywhere, "gatewayId": GATEWAY.id}),
        *table("to-nobody", closed, {"cidrBlock": "10.0.0.0/8", "gatewayId": GATEWAY.id}),
        *table("to-what", told, {**everywhere, "gatewayId": UNKNOWN}),
    )
    [network] = found.networks
    reaches = {one.name: one.reach for one in network.zones[0].subnets}
    expected = {"in": "private", "out": "public", "closed": "isolated", "told": "public", "open": "public", "main": ""}
    assert reaches == expected and network.has_internet_gateway


def test_subnets_and_node_groups_of_someone_elses_network_and_cluster_are_shown_apart():
    foreign = replace(subnet("lonely"), inputs={"vpcId": "vpc-elsewhere", "cidrBlock": "10.1.0.0/24"})
    found = drawn_of(foreign, *node_group())
    [network], [cluster] = found.networks, found.clusters
    assert "another program" in network.name and "another program" in cluster.name
    assert cluster.network == "" and network.zones[0].name == "?"


def test_two_clusters_keep_their_own_node_groups():
    clusters = [made("aws:eks/cluster:Cluster", name, {"name": name}) for name in ("a", "b")]
    groups = [
        replace(made, inputs={**made.inputs, "clusterName": cluster})
        for cluster in ("a", "b")
        for made in node_group(f"train-{cluster}")
        if made.type.endswith("NodeGroup")
    ]
    found = drawn_of(*clusters, *groups)
    shown = {
        cluster.name: [group.name for pool in cluster.pools for group in pool.groups] for cluster in found.clusters
    }
    assert shown == {"a": ["train-a"], "b": ["train-b"]}


@pytest.mark.parametrize("size", [UNKNOWN, "many", -1, {"no": "number"}, Secret(3)])
def test_a_size_that_cannot_be_read_is_a_question_mark(size):
    group = made("aws:eks/nodeGroup:NodeGroup", "odd", {"scalingConfig": {"minSize": 0, "maxSize": size}})
    [cluster] = drawn_of(group).clusters
    assert cluster.pools[0].groups[0].max_nodes is None and cluster.pools[0].gpus is None


def test_everything_unknown_is_drawn(rehearsed):
    blurred = [replace(one, inputs=dict.fromkeys(one.inputs, UNKNOWN)) for one in rehearsed("demo").resources]
    found = drawn_of(*blurred)
    assert "?" in said_of(found) and all(team.quotas is None for team in found.teams)


def test_no_secret_is_read(rehearsed):
    def hidden(value):
        if isinstance(value, dict):
            return {key: hidden(item) for key, item in value.items()}
        return [hidden(item) for item in value] if isinstance(value, list) else Secret(value)

    secret = [replace(one, inputs=hidden(dict(one.inputs))) for one in rehearsed("demo").resources]
    found = drawn_of(*secret)
    for value in ("10.0.", "p4d.24xlarge", "A100", "1.35", "cr-0123456789abcdef0", "postgres", "com.amazonaws"):
        assert value not in f"{found}", value
    assert [budget.limit for budget in found.budgets] == [None]


def test_teams_own_whole_nodes_where_no_quota_ends_inside_one():
    groups = [*node_group("train-spot", most=4, capacity="spot"), *node_group("train-on-demand", most=4)]
    flavors = [flavor("train-spot", "train", "spot"), flavor("train-on-demand", "train", "on-demand")]
    found = drawn_of(
        *groups,
        *flavors,
        queue("whole", quota("train-spot", "16"), quota("train-on-demand", "8")),
        queue("part", quota("train-spot", "12"), quota("train-on-demand", "4")),
        queue("odd", quota("train-spot", UNKNOWN)),
        queue("elsewhere", quota("not-recorded", "5"), cohort=""),
    )
    by_name = {team.name: team for team in found.teams}
    [whole], [part] = by_name["whole"].quotas, by_name["part"].quotas
    assert (whole.pool, whole.gpus, whole.nodes) == ("train", 24, 3)
    assert (part.gpus, part.nodes) == (16, None)
    assert by_name["odd"].quotas is None
    assert [one.pool for one in by_name["elsewhere"].quotas] == ["not-recorded"]
    assert by_name["whole"].lends and not by_name["elsewhere"].lends


def test_a_bucket_shows_whose_key_it_is_encrypted_with():
    key = made("aws:kms/key:Key", "key", outputs={"arn": "arn:key"})

    def with_key(name, **rule):
        bucket = made("aws:s3/bucket:Bucket", name, {"bucket": name}, id=name)
        type_ = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
        rules = [{"applyServerSideEncryptionByDefault": rule}]
        return bucket, made(type_, name, {"bucket": name, "rules": rules})

    found = drawn_of(
        key,
        *with_key("own", sseAlgorithm="aws:kms", kmsMasterKeyId="arn:key"),
        *with_key("theirs", sseAlgorithm="AES256"),
        *with_key("foreign", sseAlgorithm="aws:kms", kmsMasterKeyId="arn:other"),
        *with_key("managed", sseAlgorithm="aws:kms"),
        *with_key("unknown", sseAlgorithm="aws:kms", kmsMasterKeyId=UNKNOWN),
    )
    marks = {store.name: store.marks for store in found.stores}
    assert marks == {
        "own": ("encrypted, own key",),
        "theirs": ("encrypted, AWS's key",),
        "foreign": ("encrypted, a key of another program",),
        "managed": ("encrypted, AWS's key",),
        "unknown": ("encrypted, a key of another program",),
    }


def test_google_cloud_is_shown_as_far_as_it_is_known():
    network = made("gcp:compute/network:Network", "net")
    inputs = {"network": network.id, "ipCidrRange": "10.0.0.0/20", "region": "europe-west4"}
    within = made("gcp:compute/subnetwork:Subnetwork", "sub", inputs)
    cluster = made("gcp:container/cluster:Cluster", "gke", {"name": "gke"})
    node = {
        "machineType": "a3-highgpu-8g",
        "guestAccelerators": [{"type": "nvidia-h100-80gb", "count": 8}],
        "spot": True,
    }
    scaling = {"minNodeCount": 0, "maxNodeCount": 2}
    pool = {"cluster": "gke", "nodeConfig": node, "autoscaling": scaling, "nodeLocations": ["europe-west4-b"]}
    found = drawn_of(network, within, cluster, made("gcp:container/nodePool:NodePool", "h100", pool))
    [shown] = found.clusters
    assert [(one.gpu, one.gpus) for one in shown.pools] == [("H100", 16)]
    assert found.networks[0].zones[0].name == "europe-west4"


def test_an_example_of_google_cloud_is_shown_whole(rehearsed):
    found = drawn_of(*rehearsed("large-gcp").resources)
    [network], [cluster], [budget] = found.networks, found.clusters, found.budgets
    [zone] = network.zones
    assert [one.reach for one in zone.subnets] == ["private", "pods", "services"] and zone.nat_gateways == 1
    assert network.flow_logs == "all" and network.endpoints[0] == "Google's APIs"
    assert cluster.network == network.urn and cluster.reach == "private, and by its name with a sign-on"
    assert cluster.facts == ("secrets encrypted", "private nodes", "deletion protected")
    kinds = {store.kind for store in found.stores}
    assert kinds == {"Lustre", "Filestore", "GCS bucket"}
    assert all(store.marks == ("protected", "encrypted, own key") for store in (*found.stores, *found.databases))
    facts = {store.name: store.facts for store in found.stores}
    assert facts["checkpoints"] == ("us-east4", "versioned", "3 old versions at most", "old versions go after 30 days")
    assert facts["northwind-production-lustre"][:2] == ("18,000 GiB", "8,789 MB/s")
    [database] = found.databases
    assert database.facts[1:] == ("100 to 1000 GiB", "two zones", "not public", "35 backups kept")
    assert (budget.limit, budget.unit, budget.period) == (620_000, "USD", "a month")
    assert budget.thresholds == ((50, False), (80, False), (100, False), (100, True))
    assert [service.name for service in found.services] == ["MLflow"], "what keeps alerts has its image, and is none"
    assert "?" not in said_of(found)


def test_a_nat_of_all_subnets_serves_those_of_its_own_network():
    found = []
    for name in ("own", "other"):
        network = made("gcp:compute/network:Network", name, {"name": name})
        inputs = {"network": f"id-{name}", "region": "europe-west4", "ipCidrRange": "10.0.0.0/20"}
        found += [network, made("gcp:compute/subnetwork:Subnetwork", f"{name}-nodes", inputs)]
    router = made("gcp:compute/router:Router", "router", {"network": "id-own", "name": "r", "region": "europe-west4"})
    every = {"region": "europe-west4", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}

    def counted(*more):
        return {one.name: one.zones[0].nat_gateways for one in drawn_of(*found, *more).networks}

    nat = made("gcp:compute/routerNat:RouterNat", "nat", {**every, "router": "r"})
    assert counted(router, nat) == {"own": 1, "other": 0}
    assert counted(nat) == {"own": 1, "other": 1}, "a router of another program: nobody knows"


def test_what_google_cloud_leaves_open_is_told():
    bucket = made("gcp:storage/bucket:Bucket", "open", {"location": "EU", "encryption": {"defaultKmsKeyName": "k"}})
    database = made(
        "gcp:sql/databaseInstance:DatabaseInstance", "db", {"databaseVersion": UNKNOWN, "settings": UNKNOWN}
    )
    plain = made("gcp:sql/databaseInstance:DatabaseInstance", "plain", {"settings": {"tier": "db-f1-micro"}})
    budget = made("gcp:billing/budget:Budget", "b", {"amount": UNKNOWN, "allUpdatesRule": {"pubsubTopic": "t"}})
    nothing = made("gcp:filestore/instance:Instance", "nfs", {"tier": UNKNOWN, "fileShares": UNKNOWN})
    found = drawn_of(bucket, database, plain, budget, nothing)
    stores = {store.name: store for store in found.stores}
    assert stores["open"].marks == ("encrypted, a key of another program",)
    assert stores["nfs"].facts[0] == "? GiB" and stores["nfs"].marks == ("encrypted, Google's key",)
    assert found.databases[1].facts == ("db-f1-micro", "one zone", "public", "no backups")
    assert found.budgets[0].limit is None and found.budgets[0].facts == ("to a topic",)


@pytest.mark.parametrize(
    ("stack", "services"),
    [
        ("small-aws", {"Editors": "SageMaker Studio, 3 people, stop after 60 minutes without work", "MLflow": ""}),
        (
            "small-gcp",
            {
                "Editors": "Colab Enterprise, e2-standard-2, e2-standard-4, n2-standard-8, "
                "stop after 60 minutes without work",
                "Experiments and TensorBoard": "Vertex AI",
            },
        ),
    ],
)
def test_managed_training_shows_where_people_write_and_what_keeps_track(rehearsed, stack, services):
    found = drawn_of(*rehearsed(stack).resources)
    assert {service.name for service in found.services} == set(services)
    said = {service.name: ", ".join(service.facts) for service in found.services}
    assert all(said[name] == words for name, words in services.items() if words)
    assert "Editors and tracking" in repr(drawings(found)).replace("\\xa0", " ")


def test_editors_that_nothing_stops_are_told():
    domain = made("aws:sagemaker/domain:Domain", "studio", {"defaultUserSettings": {}})
    assert drawn_of(domain).services[0].facts == ("SageMaker Studio", "0 people", "nothing stops them")


STOPPED = {"lifecycleManagement": "ENABLED", "idleTimeoutInMinutes": 90}


@pytest.mark.parametrize(
    ("idle", "said"),
    [
        (STOPPED, ("stop after 90 minutes without work",)),
        ({**STOPPED, "lifecycleManagement": "DISABLED"}, ("nothing stops them",)),
        ({**STOPPED, "idleTimeoutInMinutes": UNKNOWN}, ()),
        ({**STOPPED, "lifecycleManagement": UNKNOWN}, ()),
        (UNKNOWN, ()),
    ],
)
def test_when_studio_stops_is_told_where_it_is_known(idle, said):
    editor = {"appLifecycleManagement": {"idleSettings": idle}}
    inputs = {"defaultUserSettings": {"jupyterLabAppSettings": editor}}
    found = drawn_of(made("aws:sagemaker/domain:Domain", "studio", inputs))
    assert found.services[0].facts == ("SageMaker Studio", "0 people", *said)


@pytest.mark.parametrize(
    ("timeouts", "said"),
    [
        (["600s", "3600s"], ("stop after 60 minutes without work",)),
        (["0s", "3600s"], ("nothing stops some of them",)),
        (["0s", None], ("nothing stops them",)),
        (["3600s", UNKNOWN], ()),
        (["\u00b2s"], ()),
    ],
)
def test_when_colab_stops_is_told_where_it_is_known(timeouts, said):
    shape = {"machineSpec": {"machineType": "e2-standard-2"}}
    found = drawn_of(
        *(
            made(
                "gcp:colab/runtimeTemplate:RuntimeTemplate",
                f"t{number}",
                {**shape, **({"idleShutdownConfig": {"idleTimeout": timeout}} if timeout else {})},
            )
            for number, timeout in enumerate(timeouts)
        )
    )
    assert found.services[0].facts == ("Colab Enterprise", "e2-standard-2", *said)


def test_two_stores_of_one_purpose_go_by_their_whole_names(rehearsed):
    names = [store.name for store in drawn_of(*rehearsed("demo").resources).stores]
    assert len(names) == len(set(names)) and {"acme-demo-trail-logs", "acme-demo-logs"} <= set(names)
