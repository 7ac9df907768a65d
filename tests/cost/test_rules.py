"""One rule at a time."""

from dataclasses import replace

import pytest

from tests.cost.recorded import PROVIDER, TODAY, node_group, priced, resource
from trainyard.conventions import HOURS_A_MONTH
from trainyard.cost.assumptions import assumptions_for
from trainyard.cost.price import price_stack
from trainyard.recorded.model import UNKNOWN, Secret

HOURS = 730


def lines_of(cost):
    return {line.what: line for line in cost.lines}


def test_a_type_without_a_rule_is_listed():
    cost = priced(resource("aws:sagemaker/endpoint:Endpoint", "studio"))
    (entry,) = cost.unpriced
    assert (entry.resource, entry.reason) == ("studio", "no price rule for aws:sagemaker/endpoint:Endpoint")
    assert not cost.lines


def test_what_only_is_looked_up_is_not_this_stacks_to_pay():
    cost = priced(resource("aws:ec2/natGateway:NatGateway", read=True))
    assert not cost.lines
    assert cost.free[0].reason == "there already: not this stack's to pay"


def test_resources_from_a_generator_are_read_once():
    stack = [PROVIDER, *node_group(pool="train"), resource("aws:ec2/eip:Eip", "address")]
    cost = price_stack((found for found in stack), {}, today=TODAY)
    assert cost == price_stack(stack, {}, today=TODAY)
    assert {line.resource for line in cost.lines} == {"train-spot", "address"}


def test_an_unknown_input_is_listed_not_guessed():
    size = {"storageCapacity": UNKNOWN, "deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 125}
    (entry,) = priced(resource("aws:fsx/lustreFileSystem:LustreFileSystem", inputs=size)).unpriced
    assert entry.reason == "not known before the resource exists"


def test_a_secret_input_is_read_and_shows_nowhere():
    found = priced(resource("aws:fsx/lustreFileSystem:LustreFileSystem", inputs={
        "storageCapacity": Secret(1200), "deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 125,
    }))  # fmt: skip
    assert found.total.floor == pytest.approx(1200 * 0.145)


def test_lustre_has_the_price_of_its_throughput_class():
    inputs = {"storageCapacity": 2400, "deploymentType": "PERSISTENT_2", "automaticBackupRetentionDays": 0}
    totals = [
        priced(
            resource("aws:fsx/lustreFileSystem:LustreFileSystem", inputs=inputs | {"perUnitStorageThroughput": speed})
        ).total.floor
        for speed in (125, 250, 500, 1000)
    ]
    assert totals == pytest.approx([2400 * usd for usd in (0.145, 0.21, 0.34, 0.6)])


@pytest.mark.parametrize(
    ("gib", "iops", "paid"), [(1200, 1500, 0), (1200, 12_000, 10_500), (21_600, 24_000, 12_000), (48_000, 24_000, 0)]
)
def test_metadata_operations_cost_above_those_that_come_with_the_storage(gib, iops, paid):
    inputs = {"storageCapacity": gib, "deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 125}
    chosen = {"metadataConfiguration": {"mode": "USER_PROVISIONED", "iops": iops}}
    cost = priced(resource("aws:fsx/lustreFileSystem:LustreFileSystem", inputs=inputs | chosen))
    assert cost.total.floor == pytest.approx(gib * 0.145 + paid * 0.055)
    assert not cost.unpriced


def test_lustre_of_an_unknown_class_is_listed():
    inputs = {"storageCapacity": 2400, "deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 333}
    (entry,) = priced(resource("aws:fsx/lustreFileSystem:LustreFileSystem", inputs=inputs)).unpriced
    assert entry.what == "fsx.lustre.persistent-2.ssd.333"


def test_lustre_backups_cost_where_they_are_kept():
    inputs = {"storageCapacity": 2400, "deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 125}
    kept = priced(
        resource("aws:fsx/lustreFileSystem:LustreFileSystem", inputs=inputs | {"automaticBackupRetentionDays": 7})
    )
    assert lines_of(kept)["backups"].usd.ceiling == pytest.approx(2400 * 0.05)


def test_an_interface_endpoint_is_paid_in_each_zone_and_a_gateway_endpoint_is_not():
    kind = "aws:ec2/vpcEndpoint:VpcEndpoint"
    interface = {"vpcEndpointType": "Interface", "subnetIds": ["a", "b", "c"]}
    cost = priced(resource(kind, "sts", interface), resource(kind, "s3", {"vpcEndpointType": "Gateway"}))
    assert {line.resource for line in cost.lines} == {"sts"}
    assert lines_of(cost)["interface in 3 zones"].usd.floor == pytest.approx(3 * HOURS * 0.01)
    assert [(entry.type, entry.count) for entry in cost.free] == [(kind, 1)]
    other = priced(resource(kind, "lb", {"vpcEndpointType": "GatewayLoadBalancer"}))
    assert other.unpriced[0].what == "GatewayLoadBalancer endpoint"


@pytest.mark.parametrize(
    ("class_", "usd"), [("db.m6g.large", 0.159), ("db.r6g.2xlarge", 0.899), ("db.m6i.xlarge", 0.356)]
)
def test_a_database_of_a_usual_class_has_its_own_price(class_, usd):
    inputs = {"engine": "postgres", "instanceClass": class_, "allocatedStorage": 20, "storageType": "gp3"}
    found = priced(resource("aws:rds/instance:Instance", inputs=inputs))
    assert found.unpriced == ()
    assert lines_of(found)[f"{class_} in 1 zone"].usd.floor == pytest.approx(usd * HOURS_A_MONTH)


def test_a_database_in_two_zones_costs_twice_and_grows_to_its_limit():
    inputs = {
        "engine": "postgres",
        "instanceClass": "db.t4g.medium",
        "multiAz": True,
        "allocatedStorage": 50,
        "maxAllocatedStorage": 500,
        "storageType": "gp3",
        "backupRetentionPeriod": 14,
        "monitoringInterval": 60,
        "performanceInsightsRetentionPeriod": 7,
        "manageMasterUserPassword": True,
    }
    two = lines_of(priced(resource("aws:rds/instance:Instance", inputs=inputs)))
    one = lines_of(priced(resource("aws:rds/instance:Instance", inputs=inputs | {"multiAz": False})))
    assert two["db.t4g.medium in 2 zones"].usd.floor == 2 * one["db.t4g.medium in 1 zone"].usd.floor
    storage = two["storage, 50 to 500 GiB in 2 zones"].usd
    assert (storage.floor, storage.ceiling) == (pytest.approx(11.5), pytest.approx(115))
    assert two["password, as a managed secret"].usd.floor == 0.4
    assert two["enhanced monitoring"].quantity.expected == pytest.approx(0.8)
    advanced = priced(resource("aws:rds/instance:Instance", inputs=inputs | {"databaseInsightsMode": "advanced"}))
    assert advanced.unpriced == ()
    insights = lines_of(advanced)["Database Insights, advanced"].usd
    assert insights.floor == pytest.approx(2 * 2 * HOURS_A_MONTH * 0.0125)
    unusual = {"instanceClass": "db.z9.huge", "databaseInsightsMode": "advanced"}
    odd = resource("aws:rds/instance:Instance", inputs=inputs | unusual)
    assert [entry.what for entry in priced(odd).unpriced] == ["rds.postgres.db.z9.huge", "Database Insights, advanced"]
    assert "storage, 50 to 500 GiB in 2 zones" in lines_of(priced(odd))
    long = priced(resource("aws:rds/instance:Instance", inputs=inputs | {"performanceInsightsRetentionPeriod": 731}))
    assert [entry.what for entry in long.unpriced] == ["Performance Insights beyond 7 days"]


@pytest.mark.parametrize(
    ("storage", "usd"),
    [
        ({"allocatedStorage": 400, "storageType": "gp3", "iops": 12000, "storageThroughput": 500}, {}),
        (
            {"allocatedStorage": 400, "storageType": "gp3", "iops": 14000, "storageThroughput": 600},
            {"provisioned IOPS above 12000": 40, "provisioned throughput above 500": 8},
        ),
        ({"allocatedStorage": 100, "storageType": "io1", "iops": 1200}, {"provisioned IOPS": 120}),
        ({"allocatedStorage": 100, "storageType": "io2", "iops": 1000, "multiAz": True}, {"provisioned IOPS": 200}),
    ],
)
def test_a_database_pays_for_the_speed_that_its_size_does_not_include(storage, usd):
    inputs = {"engine": "postgres", "instanceClass": "db.t4g.medium", **storage}
    found = priced(resource("aws:rds/instance:Instance", inputs=inputs))
    assert found.unpriced == ()
    assert {what: line.usd.floor for what, line in lines_of(found).items() if what.startswith("provisioned")} == usd


def test_logs_are_assumed_by_what_writes_them_and_kept_as_long_as_their_retention():
    kind = "aws:cloudwatch/logGroup:LogGroup"
    flow = resource(kind, "flow", {"name": "flow-1", "retentionInDays": 365})
    control = resource(kind, "control", {"name": "/aws/eks/acme/cluster", "retentionInDays": 365})
    log = resource(
        "aws:ec2/flowLog:FlowLog",
        "log",
        {"logDestinationType": "cloud-watch-logs"},
        property_dependencies={"logDestination": (flow.urn,)},
    )
    cost = priced(flow, control, log)
    came = {line.resource: line.quantity.expected for line in cost.lines if line.what == "logs that come in"}
    assert came == {"flow": 30, "control": 20}
    kept = {line.resource: line.quantity.expected for line in cost.lines if line.what == "logs that are kept"}
    assert kept["flow"] == pytest.approx(30 * 12 * 0.15)
    forever = priced(replace(flow, inputs={"name": "flow-1"}))
    assert lines_of(forever)["logs that are kept"].quantity.expected == pytest.approx(1 * 36 * 0.15)


def test_flow_logs_to_a_bucket_are_paid_for_by_delivery():
    cost = priced(resource("aws:ec2/flowLog:FlowLog", inputs={"logDestinationType": "s3"}))
    assert lines_of(cost)["delivery to a bucket"].unit_usd == 0.25


def test_extended_support_is_in_the_ceiling_only():
    standard = priced(resource("aws:eks/cluster:Cluster", inputs={"upgradePolicy": {"supportType": "STANDARD"}}))
    extended = priced(resource("aws:eks/cluster:Cluster", inputs={"upgradePolicy": {"supportType": "EXTENDED"}}))
    assert standard.total.ceiling == pytest.approx(73)
    assert extended.total.floor == pytest.approx(73)
    assert extended.total.ceiling == pytest.approx(0.6 * HOURS)


def test_a_key_costs_more_once_rotated():
    cost = priced(resource("aws:kms/key:Key", inputs={"enableKeyRotation": True}))
    assert (cost.total.floor, lines_of(cost)["first two rotations"].usd.ceiling) == (1, 2)


def test_a_shared_file_system_pays_for_elastic_throughput_and_backups():
    cost = priced(
        resource("aws:efs/fileSystem:FileSystem", inputs={"throughputMode": "elastic"}),
        resource("aws:efs/backupPolicy:BackupPolicy", inputs={"backupPolicy": {"status": "ENABLED"}}),
    )
    assert set(lines_of(cost)) == {"stored files", "reads", "writes", "backups"}
    bursting = priced(resource("aws:efs/fileSystem:FileSystem", inputs={}))
    assert set(lines_of(bursting)) == {"stored files"}


def test_kubernetes_objects_that_make_something_in_the_cloud_are_paid_for():
    cost = priced(
        resource("kubernetes:core/v1:Service", "inside", {"spec": {"type": "ClusterIP"}}),
        resource("kubernetes:core/v1:Service", "outside", {"spec": {"type": "LoadBalancer"}}),
        resource("kubernetes:core/v1:PersistentVolumeClaim", "bound", {"spec": {"volumeName": "v"}}),
        resource(
            "kubernetes:core/v1:PersistentVolumeClaim",
            "disk",
            {"spec": {"storageClassName": "gp3", "resources": {"requests": {"storage": "1Ti"}}}},
        ),
        resource(
            "kubernetes:core/v1:PersistentVolumeClaim",
            "odd",
            {"spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "10Gi"}}}},
        ),
        resource("kubernetes:core/v1:Namespace", "team"),
    )
    assert {line.resource for line in cost.lines} == {"outside", "disk"}
    assert lines_of(cost)["disk, 1024 GiB"].usd.floor == pytest.approx(1024 * 0.08)
    assert [entry.what for entry in cost.unpriced] == ["10 GiB of storage class fast"]


def prometheus(**spec):
    claim = {"storageClassName": "blocks", "resources": {"requests": {"storage": "50Gi"}}}
    own = {"storageSpec": {"volumeClaimTemplate": {"spec": claim}}, **spec}
    values = {"prometheus": {"prometheusSpec": own}}
    return resource("kubernetes:helm.sh/v3:Release", "stack", {"chart": "kube-prometheus-stack", "values": values})


def test_the_volume_of_prometheus_is_paid_for():
    blocks = {"metadata": {"name": "blocks"}, "parameters": {"type": "gp3"}}
    storage_class = resource("kubernetes:storage.k8s.io/v1:StorageClass", "blocks", blocks)
    assert lines_of(priced(prometheus(), storage_class))["volume of Prometheus, 50 GiB"].usd.floor == pytest.approx(4)
    two = priced(prometheus(replicas=2), storage_class)
    assert lines_of(two)["volume of Prometheus, 50 GiB"].usd.floor == pytest.approx(8)
    assert [entry.what for entry in priced(prometheus()).unpriced] == ["50 GiB for Prometheus"]
    other = resource("kubernetes:helm.sh/v3:Release", "other", {"chart": "kueue", "values": {}})
    assert not priced(other).lines and not priced(other).unpriced


class TestNodeGroups:
    def test_on_demand_nodes_run_for_the_utilisation(self):
        cost = priced(*node_group("tune", types=["g6e.12xlarge"], pool="tune", most=4))
        line = lines_of(cost)["g6e.12xlarge, up to 4"]
        assert (line.quantity.floor, line.quantity.expected, line.quantity.ceiling) == (0, 0.7 * 4 * HOURS, 4 * HOURS)
        assert lines_of(cost)["disks, 200 GiB each"].usd.ceiling == pytest.approx(4 * 200 * 0.08)

    def test_spot_has_its_discount_below_the_ceiling_only(self):
        cost = priced(*node_group("train-spot", capacity="spot", most=2))
        line = lines_of(cost)["p4d.24xlarge on spot, up to 2"]
        assert line.usd.expected == pytest.approx(0.7 * 2 * HOURS * 9.8979, abs=0.01), "the price in us-east-1"
        assert line.usd.ceiling == pytest.approx(2 * HOURS * 21.957642, abs=0.01)
        assert line.stale, "the quote of spot is of 2026-02-06"
        (saving,) = cost.savings
        assert (saving.kind, saving.status) == ("spot", "counted")
        full = 0.7 * 2 * HOURS * 21.957642
        assert saving.usd + line.usd.expected == pytest.approx(full, abs=0.01)
        assert saving.low_usd < saving.usd < saving.high_usd

    def test_spot_in_another_region_costs_what_it_costs_there(self):
        def there(region):
            template, group = node_group("s", types=["p5.48xlarge"], capacity="spot", most=1)
            cost = priced(template, replace(group, inputs={**group.inputs, "region": region}))
            return lines_of(cost)["p5.48xlarge on spot, up to 1"], cost.savings[0]

        line, saving = there("eu-north-1")
        assert line.usd.expected == pytest.approx(0.7 * HOURS * 10.5722, abs=0.01)
        assert (line.low_usd, line.high_usd) == pytest.approx((0.7 * HOURS * 7.6276, 0.7 * HOURS * 16.4615), abs=0.01)
        assert line.usd.ceiling == pytest.approx(HOURS * 55.04, abs=0.01)
        assert line.other_region and "below the on-demand price of us-east-1" in line.note
        assert saving.usd == pytest.approx(0.7 * HOURS * (55.04 - 10.5722), abs=0.01)
        line, saving = there("ca-central-1")
        assert line.usd.expected == pytest.approx(0.7 * HOURS * 63.296, abs=0.01)
        assert line.usd.ceiling == pytest.approx(HOURS * 63.296, abs=0.01), "above the list price of us-east-1"
        assert not line.other_region
        assert saving.usd == 0

    def test_a_dearer_alternative_on_spot_is_in_the_ceiling(self):
        cost = priced(*node_group("s", types=["g6e.12xlarge", "g6e.24xlarge"], capacity="spot", most=2))
        machines = [line for line in cost.lines if line.unit == "hour"]
        assert sum(line.usd.ceiling for line in machines) == pytest.approx(2 * HOURS * 15.06559, abs=0.02)
        assert sum(line.usd.expected for line in machines) < 2 * HOURS * 10.49264

    def test_a_reservation_bills_from_its_creation(self):
        cost = priced(*node_group("r", capacity="reserved", most=1, reservation="cr-1", monitored=True))
        line = lines_of(cost)["p4d.24xlarge, 1 reserved"]
        assert line.usd.floor == line.usd.ceiling == pytest.approx(HOURS * 21.957642, abs=0.01)
        assert "cr-1" in line.note
        assert lines_of(cost)["disks, 200 GiB each"].usd.floor == 0, "an unused reservation has no disk"
        assert {(saving.kind, saving.status, saving.months) for saving in cost.savings} == {
            ("reservation", "possible", 12),
            ("reservation", "possible", 36),
        }

    @pytest.mark.parametrize(
        ("target", "told"),
        [
            ({"capacityReservationId": UNKNOWN}, "(not known yet)"),
            ({"capacityReservationResourceGroupArn": "arn"}, "(not named)"),
        ],
    )
    def test_the_price_of_reserved_nodes_does_not_hang_on_the_reservations_id(self, target, told):
        template, group = node_group("r", capacity="on-demand", most=1)
        specification = {"capacityReservationSpecification": {"capacityReservationTarget": target}}
        line = lines_of(priced(replace(template, inputs=specification), group))["p4d.24xlarge, 1 reserved"]
        assert line.note.startswith(f"reservation {told} is taken")

    def test_a_reservation_of_the_stack_is_paid_once(self):
        reservation = resource(
            "aws:ec2/capacityReservation:CapacityReservation",
            "held",
            {"instanceType": "p4d.24xlarge", "instanceCount": 3},
            id_="cr-1",
        )
        cost = priced(reservation, *node_group("r", capacity="reserved", most=2, reservation="cr-1", disk_gib=None))
        hours = [line for line in cost.lines if line.unit == "hour"]
        assert [(line.resource, line.quantity.floor) for line in hours] == [("held", 3 * HOURS)]

    def test_system_nodes_stay_near_their_minimum(self):
        cost = priced(*node_group("system", types=["m7i.xlarge", "m6i.xlarge"], pool="system", fewest=2, most=6))
        line = lines_of(cost)["m7i.xlarge, up to 6"]
        assert (line.quantity.floor, line.quantity.expected) == (2 * HOURS, 3 * HOURS)
        assert line.pool == "", "no team's"

    def test_a_type_without_a_price_is_listed(self):
        cost = priced(*node_group("n", types=["p5e.48xlarge"], most=1), *node_group("x", types=["p9.huge"], most=1))
        assert {(entry.what, entry.reason) for entry in cost.unpriced} == {
            ("up to 1 p5e.48xlarge", "has no price in the catalogue"),
            ("up to 1 p9.huge", "no such instance type in the catalogue"),
        }

    def test_detailed_metrics_are_seven_a_node(self):
        cost = priced(*node_group("n", types=["g6.xlarge"], most=1, monitored=True))
        assert lines_of(cost)["detailed metrics"].usd.ceiling == pytest.approx(2.1)

    def test_the_spot_share_divides_a_pool_with_both(self):
        pool = [
            *node_group("spot", types=["g6.xlarge"], capacity="spot", most=8),
            *node_group("base", types=["g6.xlarge"], most=4),
        ]
        for share, on_spot in ((50, 4.2), (0, 4.4), (100, 8), (60, 5.04)):  # 70 % of 12 are 8.4; 4 fit on demand
            cost = priced(*pool, assumptions=assumptions_for("medium").with_values({"spot_share_percent": share}))
            hours = {line.resource: line.quantity.expected / HOURS for line in cost.lines if line.unit == "hour"}
            assert hours == {"spot": pytest.approx(max(on_spot, 4.4)), "base": pytest.approx(8.4 - max(on_spot, 4.4))}

    def test_disks_beyond_what_gp3_includes(self):
        template, group = node_group("n", types=["g6.xlarge"], most=1)
        ebs = {"volumeSize": 100, "volumeType": "gp3", "iops": 5000, "throughput": 625}
        cost = priced(replace(template, inputs={"blockDeviceMappings": [{"ebs": ebs}]}), group)
        assert lines_of(cost)["disk iops above 3000"].usd.ceiling == pytest.approx(2000 * 0.005)
        assert lines_of(cost)["disk throughput above 125"].usd.ceiling == pytest.approx(500 * 0.04)


def test_a_resource_in_another_region_is_flagged():
    here = priced(resource("aws:ec2/eip:Eip"))
    there = priced(resource("aws:ec2/eip:Eip", inputs={"region": "eu-west-1"}))
    assert [line.other_region for line in (*here.lines, *there.lines)] == [False, True]


@pytest.mark.parametrize(
    ("key", "value"), [("engine", "hunter2pg"), ("instanceClass", "db.hunter2.large"), ("storageType", "hunter2gp")]
)
def test_a_secret_input_is_told_in_no_reason_either(key, value):
    inputs = {"engine": "postgres", "instanceClass": "db.t4g.large", "allocatedStorage": 20, key: Secret(value)}
    found = priced(resource("aws:rds/instance:Instance", inputs=inputs))
    (entry,) = found.unpriced
    assert "hunter2" not in repr(found)
    assert "[secret]" in entry.what


def test_a_secret_of_what_a_node_group_is_made_of_shows_nowhere():
    template, group = node_group(types=())
    template = replace(template, inputs=template.inputs | {"instanceType": Secret("x9.hunter2")})
    found = priced(template, group)
    assert found.unpriced
    assert "hunter2" not in repr(found)


def test_a_secret_that_is_a_price_s_own_name_is_not_told_by_the_line_it_prices():
    inputs = {"engine": "postgres", "instanceClass": Secret("db.t4g.medium"), "allocatedStorage": 20}
    found = priced(resource("aws:rds/instance:Instance", inputs=inputs))
    assert found.total.floor > 20
    assert "db.t4g.medium" not in repr(found)


def test_data_that_were_overwritten_are_paid_for_as_long_as_their_versions_are_kept():
    def kept(days):
        bucket = resource("aws:s3/bucket:Bucket", "acme-data")
        rules = [{"id": "old", "noncurrentVersionExpiration": {"noncurrentDays": days}}]
        lifecycle = resource(
            "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
            "acme-data-lifecycle",
            {"bucket": "acme-data", "rules": rules},
            property_dependencies={"bucket": (bucket.urn,)},
        )
        return lines_of(priced(bucket, lifecycle))

    month, year = kept(30), kept(360)
    what = "overwritten and deleted objects"
    assert year[what].usd.expected == pytest.approx(12 * month[what].usd.expected, rel=0.01)
    # A twentieth of what is stored changes in a month.
    assert month[what].quantity.expected == pytest.approx(0.05 * month["stored objects"].quantity.expected, rel=0.02)


def test_files_in_one_zone_cost_about_half():
    inputs = {"throughputMode": "elastic"}
    everywhere = lines_of(priced(resource("aws:efs/fileSystem:FileSystem", inputs=inputs)))
    one = lines_of(priced(resource("aws:efs/fileSystem:FileSystem", inputs=inputs | {"availabilityZoneName": "a"})))
    assert (everywhere["stored files"].unit_usd, one["stored files in one zone"].unit_usd) == (0.30, 0.16)
    assert one["reads"] == everywhere["reads"]
