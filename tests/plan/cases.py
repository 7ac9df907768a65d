"""Mistakes: what is changed in the base stack file, the key that must be named, and words of its text and hint."""

from tests.plan.stack_files import bought, gpu_pool, keys, node_range, people

ID = "cr-0123456789abcdef0"
LEAD = "arn:aws:iam::123456789012:role/lead"
ON_CALL = "arn:aws:iam::123456789012:user/on-call"


def train(**fields):
    return {"gpuPools": {"train": gpu_pool(**fields)}}


def reserved(size=2, zone="us-east-1b", **fields):
    return train(reserved=bought(fields.pop("id", ID), size, zone, **fields))


def lustre(**fields):
    return {"storage": keys(lustre=keys(**fields))}


def sign_on(**fields):
    """Single sign-on with changes."""
    good = {
        "issuer": "https://login.acme.example/tenant",
        "audience": "6f1d3c0e",
        "keys_url": "https://login.acme.example/tenant/keys",
        "teams": {"vision": "ml-vision"},
    }
    return {"mlflow": keys(sign_on=keys(**{**good, **fields}))}


def database(**fields):
    return {"mlflow": keys(database=keys(**fields))}


def audit(**fields):
    return {"audit": keys(**fields)}


def network(**fields):
    return {"network": keys(**fields)}


def own(name="own", **fields):
    return {"gpuPools": {name: gpu_pool(**{"instance_type": "g6.2xlarge", **fields})}}


CASES = [
    # place
    ({"region": "us-east1"}, "region", "got us-east1; no such AWS region", "did you mean us-east-1"),
    ({"region": "ap-southeast-4"}, "region", "sells no GPU instance; these do: af-south-1", ""),
    ({"residency": "uae"}, "region", "residency allows me-central-1 only", ""),
    ({"cloud": "azure"}, "cloud", "must be aws", ""),
    # people
    ({"teamSize": 0, "teams": ()}, "teamSize", 'got "0"; must be at least 1', ""),
    ({"teams": ()}, "teamSize", "got nothing; give teamSize", ""),
    ({"profile": "small", "kubernetesVersion": "1.35"}, "kubernetesVersion", "is of a cluster", "set profile: medium"),
    ({"profile": "small", "mlflow": keys(replicas=2)}, "mlflow.replicas", "is of a cluster", "set profile: medium"),
    ({"profile": "small", "stage": "account"}, "stage", "waits for a cluster", "set profile: medium"),
    (
        {"profile": "small", "managed": keys(training_types=("g5.xlrge",))},
        "managed.trainingTypes[0]",
        "no instance type",
        "g5.xlarge",
    ),
    ({"profile": "small", "managed": keys(space_gib=200)}, "managed.spaceGib", "at most managed.maxSpaceGib", ""),
    ({"profile": "small", "managed": keys(idle_minutes=30)}, "managed.idleMinutes", "", ""),
    ({"profile": "medum"}, "profile", "must be small, medium or large", "did you mean medium?"),
    ({"teamSize": 5}, "teams", "12 members in all; must be at most teamSize, which is 5", ""),
    ({"teams": (people("a", 5), people("a", 5))}, "teams", "2 teams of the name a", ""),
    ({"teams": (people("a", 5, 50.0), people("b", 5))}, "teams", "no share for b", ""),
    ({"teams": (people("a", 5, 50.0), people("b", 5, 49.0))}, "teams", "shares that add up to 99", ""),
    (
        {"teams": (people("a", 5, 150.0), people("b", 5, -50.0))},
        "teams[1].share",
        "got -50.0; must be above 0",
        "",
    ),
    (
        {"teams": ({**people("a", 5), **keys(monthly_budget_usd=0)}, {**people("b", 5), **keys(monthly_budget_usd=0)})},
        "teams: monthlyBudgetUsd",
        "got 0 for every team; must be above 0 for one of them",
        "leave it out to share the budget",
    ),
    (
        {
            **keys(monthly_budget_usd=90_000),
            "teams": ({**people("a", 5), **keys(monthly_budget_usd=90_000)}, people("b", 5)),
        },
        "teams",
        "got budgets of 90000 USD; must leave more of 90000, the monthly budget, or b may spend nothing",
        "raise monthlyBudgetUsd",
    ),
    (
        {
            **keys(monthly_budget_usd=90_000),
            "teams": (
                {**people("a", 5), **keys(monthly_budget_usd=89_998)},
                people("b", 5),
                people("c", 5),
                people("d", 4),
            ),
        },
        "teams",
        "got budgets of 89998 USD; must leave more of 90000, the monthly budget, or d may spend nothing",
        "raise monthlyBudgetUsd",
    ),
    ({"teams": (people("Vision_1", 5),)}, "teams[0].name", 'got "Vision_1"; must be lower-case', ""),
    ({"teams": (people("a", 0), people("b", 9))}, "teams[0].members", "got 0; must be at least 1", ""),
    ({"client": "a" * 21}, "client", "at most 20 long", ""),
    ({"client": "acme-"}, "client", 'got "acme-"; must be lower-case', ""),
    ({"environment": "a--b"}, "environment", "single '-'", ""),
    ({"client": "a" * 20, "environment": "b" * 20}, "environment", "at most 32 long together", ""),
    # instances
    (
        train(instance_type="p4d.24xlarg"),
        "gpuPools.train.instanceType",
        "no such GPU instance",
        "did you mean p4d.24xlarge?",
    ),
    (
        {"region": "me-central-1", **train(instance_type="p4d.24xlarge")},
        "gpuPools.train.instanceType",
        "me-central-1 does not sell it; it is in ap-northeast-1",
        "with 8 GPUs there: g5.48xlarge",
    ),
    (train(gpu="A100"), "gpuPools.train.gpu", "must be one of T4, A10G", "did you mean A100-40GB or A100-80GB?"),
    (
        {"region": "me-central-1", **train(gpu="B200")},
        "gpuPools.train.gpu",
        "it is sold in",
        "GPUs there: A10G",
    ),
    (train(gpu="H100", instance_type="p4d.24xlarge"), "gpuPools.train.gpu", "got H100; p4d.24xlarge has A100-40GB", ""),
    (train(instance_type="g6f.xlarge"), "gpuPools.train.instanceType", "has a fraction of a GPU", ""),
    (
        train(instance_type="g7.12xlarge"),
        "gpuPools.train.instanceType",
        "needs NVIDIA driver 595; the node image has 580",
        "",
    ),
    (train(gpu="RTX PRO 4500"), "gpuPools.train.gpu", "has no instance with it that the node image can drive", ""),
    (own(fabric=True, spot=node_range(0, 1)), "gpuPools.own.fabric", "g6.2xlarge has no Elastic Fabric Adapter", ""),
    (
        train(spot_instance_types=("p5.48xlarge",)),
        "gpuPools.train.spot.instanceTypes",
        "has 8 H100; the pool has 8 A100-40GB a node",
        "",
    ),
    (
        {"gpuPools": {"tune": gpu_pool(instance_type="g6e.24xlarge", spot_instance_types=("g6e.12xlarge",))}},
        "gpuPools.tune.spot.instanceTypes",
        "has fewer vCPUs or less memory than g6e.24xlarge",
        "",
    ),
    (
        {"gpuPools": {"tune": gpu_pool(fabric=True, spot_instance_types=("g6e.24xlarge",))}},
        "gpuPools.tune.spot.instanceTypes",
        "has 2 fabric interfaces, g6e.12xlarge has 1",
        "",
    ),
    (
        {
            "region": "eu-west-2",
            "gpuPools": {
                "train": gpu_pool(
                    instance_type="g6.8xlarge", fabric=True, zone="eu-west-2c", spot_instance_types=("gr6.8xlarge",)
                )
            },
        },
        "gpuPools.train.spot.instanceTypes",
        "no zone of the pool (eu-west-2c) sells all of them",
        "",
    ),
    (train(spot_instance_types=("p4x",)), "gpuPools.train.spot.instanceTypes", "no such GPU instance", ""),
    # reservations
    (
        reserved(4, max_nodes=6),
        "gpuPools.train.reserved.maxNodes",
        "got 6; must be 1 to 4, the size of the reservation",
        "",
    ),
    (reserved(0), "gpuPools.train.reserved.nodes", "got 0; must be at least 1", ""),
    (reserved(id="lt-1"), "gpuPools.train.reserved.reservationId", "got lt-1; must look like cr-", ""),
    (reserved(kind="block"), "gpuPools.train.reserved.kind", 'got "block"; must be odcr or capacity-block', ""),
    (
        reserved(zone="us-east-1z"),
        "gpuPools.train.reserved.availabilityZone",
        "no zone of us-east-1",
        "did you mean us-east-1",
    ),
    (reserved(zone="us-east-1e"), "gpuPools.train.reserved.availabilityZone", "EKS cannot use zone use1-az3", ""),
    (reserved(zone="us-east-1f"), "gpuPools.train.reserved.availabilityZone", "does not sell p4d.24xlarge", ""),
    (
        {"gpuPools": {"tune": gpu_pool(reserved=bought(ID, 1, "us-east-1a", "capacity-block"))}},
        "gpuPools.tune.reserved.kind",
        "g6e.12xlarge is not sold in Capacity Blocks; p4d.24xlarge",
        "",
    ),
    (
        {"gpuPools": {name: gpu_pool(reserved=bought(ID, 1, "us-east-1a")) for name in ("tune", "dev")}},
        "gpuPools.dev.reserved.reservationId",
        "pool tune has this reservation already",
        "",
    ),
    (
        train(reserved=bought(ID, 1, "us-east-1a"), zone="us-east-1b"),
        "gpuPools.train.zone",
        "the reservation is in us-east-1a",
        "",
    ),
    # pools
    (train(spot=node_range(3, 2)), "gpuPools.train.spot.minNodes", "got 3; must be at most maxNodes, which is 2", ""),
    (train(on_demand=node_range(-1, 2)), "gpuPools.train.onDemand.minNodes", "got -1; must be at least 0", ""),
    (train(on_demand=node_range(0, -2)), "gpuPools.train.onDemand.maxNodes", "got -2; must be at least 0", ""),
    (train(spot=node_range(0, 0), on_demand=node_range(0, 0)), "gpuPools.train", "got no node; needs nodes", ""),
    (own(), "gpuPools.own", "got no node; needs nodes", ""),
    (own(spot=node_range(1)), "gpuPools.own.spot.maxNodes", "how many nodes at most", ""),
    (own(instance_type=None), "gpuPools.own", "neither instanceType nor gpu", ""),
    (own("x" * 21, spot=node_range(0, 1)), f"gpuPools.{'x' * 21}", "at most 20 long", ""),
    (own("Own", spot=node_range(0, 1)), "gpuPools.Own", "lower-case letters", ""),
    (own("trian", enabled=False), "gpuPools.trian.enabled", "the profile has no such pool", "did you mean train?"),
    (
        {"gpuPools": {name: gpu_pool(enabled=False) for name in ("train", "tune", "dev")}},
        "gpuPools",
        "no enabled pool",
        "",
    ),
    (
        {
            "gpuPools": {
                f"p{i}": gpu_pool(gpu="T4", spot=node_range(0, 1), on_demand=node_range(0, 1)) for i in range(31)
            }
        },
        "gpuPools",
        "got 67 node groups; a queue takes 64 flavors",
        "",
    ),
    (
        {"gpuPools": {"tune": gpu_pool(gang_nodes=2)}},
        "gpuPools.tune.gangNodes",
        "only a pool with a fabric has jobs over several nodes",
        "set fabric: true",
    ),
    (
        train(gang_nodes=3, on_demand=node_range(0, 2)),
        "gpuPools.train.gangNodes",
        "got 3; must be at most the nodes of one capacity that is not spot; the pool has 2 on-demand",
        "raise gpuPools.train.onDemand.maxNodes, or set 1",
    ),
    (
        train(gang_nodes=2, on_demand=node_range(0, 0)),
        "gpuPools.train.gangNodes",
        "the pool has none",
        "",
    ),
    (train(zone="us-east-1f"), "gpuPools.train.zone", "does not sell p4d.24xlarge", ""),
    # network
    (network(cidr="172.20.0.0/16"), "network.cidr", "must not overlap network.serviceCidr 172.20.0.0/16", ""),
    (
        network(reserved_cidrs=("10.0.128.0/20",)),
        "network.cidr",
        "must not overlap network.reservedCidrs 10.0.128.0/20",
        "",
    ),
    (
        network(reserved_cidrs=("172.20.1.0/24",)),
        "network.reservedCidrs[0]",
        "must not overlap network.serviceCidr",
        "",
    ),
    (network(reserved_cidrs=("10.9.0.1/16",)), "network.reservedCidrs[0]", "without host bits", ""),
    (network(cidr="10.0.0.0/12"), "network.cidr", "got 10.0.0.0/12; must be /16 to /20", ""),
    (network(cidr="10.0.0.0/22"), "network.cidr", "got 10.0.0.0/22; must be /16 to /20", ""),
    (network(cidr="10.0.0.0/20"), "network.cidr", "too small: the nodes in us-east-1", "take a larger range"),
    (network(cidr="nonsense"), "network.cidr", "must be an IPv4 network", ""),
    (network(service_cidr="8.8.0.0/16"), "network.serviceCidr", "must be a private range of /12 to /24", ""),
    (network(service_cidr="172.20.0.0/26"), "network.serviceCidr", "must be a private range of /12 to /24", ""),
    (network(zones=("us-east-1a", "us-west-2a")), "network.zones", "got us-west-2a; no zone of us-east-1", ""),
    (network(zones=("us-east-1a",)), "network.zones", "two to 6 zones", ""),
    (network(zones=("us-east-1a", "us-east-1a")), "network.zones", "each zone once", ""),
    (network(zones=("us-east-1a",) * 300), "network.zones", "us-east-1a, and 280 more", ""),
    (network(zones=("us-east-1a", "us-east-1e")), "network.zones", "EKS cannot use zone use1-az3", ""),
    (
        {**network(zones=("us-east-1a", "us-east-1b")), **reserved(zone="us-east-1c")},
        "gpuPools.train.reserved.availabilityZone",
        "got us-east-1c; must be one of network.zones",
        "",
    ),
    (
        {"aws": keys(flow_log_retention_days=366)},
        "aws.flowLogRetentionDays",
        "got 366; must be one of 1, 3, 5",
        "nearest is 365",
    ),
    (
        {
            "region": "eu-north-1",
            **network(zones=("eu-north-1a", "eu-north-1b")),
            **train(instance_type="p4d.24xlarge"),
        },
        "gpuPools.train.instanceType",
        "no zone of the environment (eu-north-1a, eu-north-1b) sells it; eu-north-1c do",
        "",
    ),
    # cluster
    ({"kubernetesVersion": "1.29"}, "kubernetesVersion", "got 1.29; must be one of 1.35, 1.36", ""),
    ({"kubernetesVersion": "1.34"}, "kubernetesVersion", "got 1.34; must be one of 1.35, 1.36", "did you mean 1.3"),
    ({"logRetentionDays": 100}, "logRetentionDays", "got 100; must be one of", "nearest is 90"),
    ({"apiAccess": keys(cidrs=("0.0.0.0/0",))}, "apiAccess.cidrs[0]", "open to the internet", ""),
    ({"apiAccess": keys(cidrs=("1.2.3.4/16",))}, "apiAccess.cidrs[0]", "without host bits", ""),
    (
        {"systemNodes": keys(min_nodes=9)},
        "systemNodes.minNodes",
        "got 9; must be at most maxNodes, which is 6",
        "",
    ),
    (
        {"cpuPool": keys(min_nodes=9)},
        "cpuPool.minNodes",
        "got 9; must be at most maxNodes, which is 6",
        "",
    ),
    ({"cpuPool": keys(min_nodes=1, max_nodes=0)}, "cpuPool.minNodes", "must be at most maxNodes, which is 0", ""),
    ({"cpuPool": keys(disk_gib=0)}, "cpuPool.diskGib", "got 0; must be at least 20", ""),
    (
        {"cpuPool": keys(instance_types=["m7i.xlrge"])},
        "cpuPool.instanceTypes",
        "must be one of",
        "did you mean m7i.xlarge?",
    ),
    ({"systemNodes": keys(disk_gib=0)}, "systemNodes.diskGib", "got 0; must be at least 20", ""),
    (
        {"systemNodes": keys(instance_types=["m7i.xlrge"])},
        "systemNodes.instanceTypes",
        "must be one of",
        "did you mean m7i.xlarge?",
    ),
    (
        {"region": "eu-south-2", "systemNodes": keys(instance_types=["m6i.xlarge"])},
        "systemNodes.instanceTypes",
        "eu-south-2 does not sell it",
        "",
    ),
    # storage and database
    (
        lustre(capacity_gib=3600),
        "storage.lustre.capacityGib",
        "sold in 1200, 2400 and multiples of 2400 GiB",
        "nearest: 2400 and 4800",
    ),
    (lustre(capacity_gib=500), "storage.lustre.capacityGib", "got 500", "nearest: 1200"),
    (
        lustre(throughput_mbps_per_tib=200),
        "storage.lustre.throughputMbpsPerTib",
        "must be one of 125, 250, 500, 1000",
        "",
    ),
    (lustre(zone="us-east-9a"), "storage.lustre.zone", "no zone of us-east-1", ""),
    (
        {"storage": keys(artifact_transition_days=7)},
        "storage.artifactTransitionDays",
        "must be at least 30",
        "",
    ),
    (
        {"storage": keys(checkpoint_keep_versions=0)},
        "storage.checkpointKeepVersions",
        "must be at least 1",
        "",
    ),
    (
        {"aws": keys(database_instance_class="db.t4g.medum")},
        "aws.databaseInstanceClass",
        "must be one of",
        "did you mean db.t4g.medium?",
    ),
    (database(storage_gib=5), "mlflow.database.storageGib", "got 5; must be at least 20", ""),
    (
        database(storage_gib=100, max_storage_gib=105),
        "mlflow.database.maxStorageGib",
        "at least a tenth above storageGib, which is 100",
        "",
    ),
    (database(backup_retention_days=0), "mlflow.database.backupRetentionDays", "got 0; must be at least 1", ""),
    ({"mlflow": keys(replicas=0)}, "mlflow.replicas", "must be at least 1", ""),
    # owners of nodes
    (train(owners={"vison": 1}), "gpuPools.train.owners.vison", "must be one of the teams: vision,", "vision?"),
    (train(owners={"vision": 3, "language": 2}), "gpuPools.train.owners", "got 5 nodes in all; must be at most 4", ""),
    (
        train(owners={"vision": 1, "language": 1, "platform": 0}),
        "gpuPools.train.owners",
        "got 2 nodes in all; must be 4, the nodes of the pool's capacities, where it names every team",
        "leave a team out to give it the rest",
    ),
    (train(owners={"vision": 1.5}), "gpuPools.train.owners.vision", "must be a whole number", ""),
    (train(owners={"vision": -1}), "gpuPools.train.owners.vision", "must be at least 0", ""),
    (
        {"gpuPools": {"tune": gpu_pool(owners={"vision": 1})}},
        "gpuPools.tune.owners",
        "only a pool of jobs that take whole nodes has owners of nodes",
        "the teams' shares decide",
    ),
    ({"scheduler": keys(requeue_limit=-1)}, "scheduler.requeueLimit", "must be at least 0", ""),
    ({"scheduler": keys(priorities={"Top": 1})}, "scheduler.priorities.Top", "lower-case", ""),
    (
        {"smoke": keys(capacities=("reserved",))},
        "smoke.capacities",
        "got reserved; must name a capacity of pool",
        "smoke.enabled false",
    ),
    # money
    (
        {"monthlyBudgetUsd": 300},
        "monthlyBudgetUsd",
        "got 300; must be at least 530 USD a month, the idle floor",
        "system nodes (2 m7i.xlarge) 294, EKS control plane 73",
    ),
    ({"budget": keys(anomaly_threshold_usd=0)}, "budget.anomalyThresholdUsd", "got 0; must be at least 1", ""),
    ({"monthlyBudgetUsd": 10**30}, "monthlyBudgetUsd", "must be at most 1e+09", ""),
    (
        reserved(65, zone="us-east-1b", kind="capacity-block"),
        "gpuPools.train.reserved.nodes",
        "got 65; a Capacity Block has at most 64 instances",
        "",
    ),
    # names that somebody else has
    (own("cpu", spot=node_range(0, 1)), "gpuPools.cpu", "the name of the nodes without GPUs", "another name"),
    (own("system", spot=node_range(0, 1)), "gpuPools.system", "the name of the nodes without GPUs", "another name"),
    ({"client": "sthree"}, "client", "S3 keeps names that begin with sthree- for itself", "another name"),
    ({"client": "amzn-s3-demo"}, "client", "S3 keeps names that begin with amzn-s3-demo-", ""),
    ({"client": "amzn", "environment": "s3-demo"}, "environment", "S3 keeps names that begin with amzn-s3-demo-", ""),
    ({"teams": (people("admin", 5),)}, "teams[0].name", "the name of MLflow's administrator", ""),
    ({"teams": ({**people("a", 5), "people": ["ada", "ada"]},)}, "teams[0].people[1]", "is there twice", ""),
    (
        {"teams": tuple({**people(name, 5), "principals": [LEAD]} for name in ("a", "b"))},
        "teams[1].principals[0]",
        "is teams[0].principals[0] too, and who signs in to the cluster is of one team",
        "give each team a role of its own",
    ),
    # single sign-on
    (
        sign_on(issuer="http://login.acme.example"),
        "mlflow.signOn.issuer",
        "must be the issuer as its tokens spell it",
        "",
    ),
    (sign_on(issuer="https://login.acme.example?x=1"), "mlflow.signOn.issuer", "must be the issuer", ""),
    (sign_on(keys_url="http://login.acme.example/k"), "mlflow.signOn.keysUrl", "must be the address of the issuer", ""),
    (sign_on(keys_url="https://login.acme.example:8443/k"), "mlflow.signOn.keysUrl", "no port", ""),
    (sign_on(keys_url="https://10.0.0.1/k"), "mlflow.signOn.keysUrl", "must be the address of the issuer's keys", ""),
    (sign_on(keys_url="https://user@login.acme.example/k"), "mlflow.signOn.keysUrl", "must be the address", ""),
    (sign_on(audience=""), "mlflow.signOn.audience", "must be the audience", ""),
    (sign_on(claim="two words"), "mlflow.signOn.claim", "must be the name of a claim", ""),
    (sign_on(teams={}), "mlflow.signOn.teams", "at least 1", ""),
    (sign_on(teams={"vision": " ", "language": "ml"}), "mlflow.signOn.teams.vision", "must be a group", ""),
    (
        sign_on(teams={"speech": "ml"}),
        "mlflow.signOn.teams.speech",
        "is of no team: there are language, platform, vis",
        "",
    ),
    (
        sign_on(teams={"vision": "ml", "language": "ml"}),
        "mlflow.signOn.teams.language",
        "is the group of team vision too",
        "",
    ),
    (
        {"mlflow": {**sign_on()["mlflow"], "enabled": False}},
        "mlflow.signOn",
        "is read only where mlflow.enabled is true",
        "leave one of them out",
    ),
    ({"owner": "aws:me"}, "owner", "not begin with aws:", ""),
    ({"costCentre": "AWS:me"}, "costCentre", "not begin with aws:", ""),
    # addresses
    *(
        (
            network(cidr=cidr),
            "network.cidr",
            f"must be addresses that a network can have, not {what} ones",
            "10.0.0.0/8",
        )
        for cidr, what in (
            ("127.0.0.0/16", "loopback"),
            ("169.254.0.0/16", "link-local"),
            ("0.0.0.0/16", "this host"),
            ("224.0.0.0/16", "multicast"),
            ("239.255.0.0/16", "multicast"),
            ("240.0.0.0/16", "reserved"),
            ("255.255.0.0/16", "reserved"),
        )
    ),
    *(
        (network(service_cidr=cidr), "network.serviceCidr", "must be a private range", "")
        for cidr in ("127.0.0.0/16", "169.254.0.0/16", "224.0.0.0/16", "100.64.0.0/16")
    ),
    *(
        ({"apiAccess": keys(cidrs=(cidr,))}, "apiAccess.cidrs[0]", "nobody comes from there over the internet", "")
        for cidr in (
            "0.0.0.0/8",
            "0.1.0.0/16",
            "10.1.0.0/16",
            "100.64.0.0/16",
            "127.0.0.1/32",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.168.1.0/24",
            "198.18.0.0/16",
            "224.0.0.1/32",
            "239.0.0.0/8",
            "240.0.0.0/8",
            "255.255.255.255/32",
        )
    ),
    # people of the cloud
    *(
        ({"teams": ({**people("vision", 5), "principals": [arn]},)}, "teams[0].principals[0]", words, "")
        for arn, words in (
            ("arn:aws:iam::123456789012:root", "no root"),
            ("arn:aws:iam::123456789012:role/*", "no *"),
            ("*", "no *"),
            ("arn:aws:sts::123456789012:assumed-role/x/y", "no session"),
            ("arn:aws:iam::123456789012:role/aws-service-role/x.amazonaws.com/Y", "no service's role"),
            ("arn:aws:iam::12345678901:role/x", "must be the ARN"),
            ("arn:aws:iam::123456789012:role/", "must be the ARN"),
            ("arn:aws:iam::123456789012:role/a b", "must be the ARN"),
            ("arn:aws-nowhere:iam::123456789012:role/x", "must be the ARN"),
            ("arn:aws-cn:iam::123456789012:role/x", "must be of the partition aws, as us-east-1 is"),
            ("arn:aws-us-gov:iam::123456789012:user/x", "must be of the partition aws"),
        )
    ),
    (
        {"aws": keys(admin_principals=["arn:aws-cn:iam::123456789012:role/x"])},
        "aws.adminPrincipals[0]",
        "must be of the partition aws",
        "",
    ),
    # audit
    (audit(trail=keys(by="organization")), "audit.trail.reason", "must say why audit.trail.by is organization", ""),
    (audit(trail=keys(by="none")), "audit.trail.reason", "must say why audit.trail.by is none", ""),
    (audit(trail=keys(by="none", reason="because")), "audit.trail.reason", "at least 10", ""),
    (audit(trail=keys(by="us")), "audit.trail.by", "must be stack, organization or none", ""),
    (audit(threat_detection=keys(by="account")), "audit.threatDetection.reason", "must say why", ""),
    (
        audit(threat_detection=keys(by="account", reason="security account", runtime=True)),
        "audit.threatDetection.runtime",
        "needs audit.threatDetection.by: stack, which is account",
        "",
    ),
    (
        audit(trail=keys(retention_days=30, lock_days=60)),
        "audit.trail.retentionDays",
        "must be at least lockDays, which is 60",
        "",
    ),
    (audit(trail=keys(lock="legal-hold")), "audit.trail.lock", "must be governance or compliance", ""),
    (
        audit(break_glass=keys(principals=["arn:aws:iam::123456789012:role/on-call"])),
        "audit.breakGlass.principals[0]",
        "must be the ARN of an IAM user",
        "",
    ),
    (
        audit(break_glass=keys(principals=["arn:aws-cn:iam::123456789012:user/on-call"])),
        "audit.breakGlass.principals[0]",
        "must be of the partition aws",
        "",
    ),
    (
        audit(trail=keys(by="none", reason="a sandbox of a week"), break_glass=keys(principals=[ON_CALL])),
        "audit.breakGlass.principals",
        "needs a trail",
        "",
    ),
    (
        audit(container_logs=keys(retention_days=100)),
        "audit.containerLogs.retentionDays",
        "must be one of 1, 3, 5",
        "nearest is 90",
    ),
    ({"stateBackend": "acme-state"}, "stateBackend", "must be a URL as `pulumi login` takes it", ""),
    ({"stateBackend": "postgres://me:secret@db/state"}, "stateBackend", "without a user or password", ""),
    ({"alertEmails": ("a@b.example", "c@d.example", "A@B.example")}, "alertEmails[2]", "must not be there twice", ""),
    *(
        ({"alertEmails": (address,)}, "alertEmails[0]", "must be an e-mail address", "")
        for address in (
            "a@b",
            "a@b..c",
            ".a@b.c",
            "a..b@c.d",
            "a b@c.d",
            "<a@b.c>",
            "a@-b.c",
            "a@b.c.",
            "a@b@c.d",
            "ä@b.c",
            "a@1.2",
            "a@127.0.0.1",
        )
    ),
    # servers
    *(({"mlflow": keys(cpu=cpu)}, "mlflow.cpu", "must be at least 50m", "") for cpu in ("0", "0m", "49m", "0.001")),
    *(
        ({"mlflow": keys(cpu=cpu)}, "mlflow.cpu", "must be cores as a Kubernetes quantity", "")
        for cpu in ("-1", "1Gi", "1e3", "one", "+1", "1.", "0.0001")
    ),
    *(
        ({"mlflow": keys(memory=memory)}, "mlflow.memory", "must be at least 256Mi", "")
        for memory in ("0", "1", "0Gi", "255Mi", "1000k", "2")
    ),
    *(
        ({"mlflow": keys(memory=memory)}, "mlflow.memory", "must be bytes as a Kubernetes quantity", "")
        for memory in ("-1Gi", "500m", "4GB", "4K", "4 Gi", "1e9")
    ),
    (
        {"mlflow": keys(memory="1Gi", workers=8)},
        "mlflow.memory",
        "must be at least 1600Mi: 8 workers of 200 MiB",
        "fewer mlflow.workers",
    ),
    (
        {"mlflow": keys(cpu="4")},
        "mlflow.cpu",
        "got 4; must be at most 3.56, which a system node has for it (m7i.xlarge",
        "larger systemNodes.instanceTypes",
    ),
    ({"mlflow": keys(memory="16Gi")}, "mlflow.memory", "got 16Gi; must be at most 12756Mi", ""),
    (
        {"mlflow": keys(cpu="3", replicas=6)},
        "mlflow.replicas",
        "do not fit: 6 system nodes (m7i.xlarge) have room for 5 servers of 3 cores",
        "raise systemNodes.maxNodes",
    ),
    (
        {"mlflow": keys(replicas=5, workers=20, memory="4Gi")},
        "aws.databaseInstanceClass",
        "5 servers and the one that an upgrade starts before it stops another may hold 240 each, 1443 with those",
        "a larger database",
    ),
    (
        {"systemNodes": keys(instance_types=["m7i.large"], min_nodes=1, max_nodes=1)},
        "systemNodes.maxNodes",
        "too few: the platform's own pods request 3.8 cores",
        "more nodes",
    ),
    (
        {"systemNodes": keys(instance_types=["m7i.large"], min_nodes=1, max_nodes=2)},
        "systemNodes.maxNodes",
        "finds no room beside the others while one of them is updated",
        "more nodes",
    ),
    (
        {
            "systemNodes": keys(instance_types=["m7i.large"], min_nodes=1, max_nodes=2),
            "mlflow": keys(enabled=False),
            "monitoring": {"enabled": False},
        },
        "systemNodes.maxNodes",
        "metrics-server finds no room beside the others while one of them is updated",
        "more nodes",
    ),
    (
        {
            "systemNodes": keys(max_nodes=2),
            "notebooks": {
                "hub": True,
                "signOn": {"provider": "github", "clientId": "Iv1.0123456789abcdef", "groups": ["acme"]},
            },
        },
        "mlflow.replicas",
        "do not fit: 2 system nodes (m7i.xlarge) have room for 2 servers of 1 cores",
        "raise systemNodes.maxNodes",
    ),
    (  # Prometheus fills a node, on which no server is: none of the others takes a second one
        {
            "systemNodes": keys(min_nodes=1, max_nodes=3),
            "mlflow": keys(replicas=3, cpu="0.5", memory="1600Mi"),
            "monitoring": {"cpu": "3.4"},
        },
        "mlflow.replicas",
        "do not fit: 3 system nodes (m7i.xlarge) have room for 3 servers of 0.5 cores",
        "raise systemNodes.maxNodes",
    ),
    (
        {"systemNodes": keys(instance_types=["m7i.xlarge", "m7i.large"]), "mlflow": keys(cpu="2")},
        "mlflow.cpu",
        "m7i.large",
        "",
    ),
    (
        {"systemNodes": keys(instance_types=["m7i.xlarge", "m7i.xlarge"])},
        "systemNodes.instanceTypes",
        "must not be there twice",
        "",
    ),
    *(
        ({"smoke": keys(image=f"{image}@sha256:{'0' * 64}")}, "smoke.image", "must be an image that is pinned", "")
        for image in ("", "https://x.example/y", "UPPER/Case", "a b", "x:", "/x", "x//y:z:w")
    ),
    (own(purpose="two\nlines", spot=node_range(0, 1)), "gpuPools.own.purpose", "must be one line", ""),
]
