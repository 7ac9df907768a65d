"""What becomes of each resource: by URN and alias, by what forces a replacement, by what is made of what."""

import dataclasses

import pytest

from tests.rehearsal.change.changing import between, changed, operations, option, step
from tests.rehearsal.refusals.builders import obj, resource
from tests.rehearsal.works.mistakes import DROP, drop, edit, put
from trainyard.recorded.model import UNKNOWN, Alias, Secret
from trainyard.rehearsal.change.model import Operation

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
SUBNET = "aws:ec2/subnet:Subnet"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
POOL = "gpu-nodes-train-spot"


@pytest.fixture(scope="module")
def demo(rehearsed):
    return rehearsed("demo")


@pytest.mark.parametrize("stack", ["demo", "large-aws", "uae-aws"])
def test_a_stack_as_it_is_changes_nothing(stack, rehearsed):
    for deployed in (False, True):
        found = changed(rehearsed(stack), deployed=deployed)
        assert operations(found) == {}
        assert {each.operation for each in found.steps} == {Operation.SAME}


def test_what_changes_in_place(demo):
    found = changed(demo, edit(NODE_GROUP, POOL, put("scalingConfig.maxSize", 9)))
    assert operations(found) == {POOL: Operation.UPDATE}
    (difference,) = step(found, POOL).differences
    assert (difference.path, difference.before, difference.after) == ("scalingConfig.maxSize", 2, 9)


def test_what_does_not_change_in_place_takes_along_what_is_made_of_it(demo):
    found = changed(demo, edit(SUBNET, "network-private-us-east-1b", put("cidrBlock", "10.0.200.0/22")))
    subnet = step(found, "network-private-us-east-1b", SUBNET)
    assert (subnet.operation, subnet.forced_by, subnet.deleted_first) == (Operation.REPLACE, ("cidrBlock",), False)
    pool = step(found, POOL, NODE_GROUP)
    assert pool.operation is Operation.REPLACE and pool.forced_by == ("subnetIds[0]",)
    assert pool.differences[0].after is UNKNOWN and pool.differences[0].of == subnet.urn
    in_another_zone = step(found, "gpu-nodes-dev-on-demand", NODE_GROUP)
    assert in_another_zone.operation is Operation.SAME


def test_another_version_of_a_template_reaches_its_node_group_and_its_tags_do_not(demo):
    template = f"{POOL}-template"
    found = changed(demo, edit(TEMPLATE, template, put("metadataOptions.httpPutResponseHopLimit", 7)))
    assert operations(found) == {template: Operation.UPDATE, POOL: Operation.UPDATE}
    assert [each.path for each in step(found, POOL).differences] == ["launchTemplate.version"]
    tagged = changed(demo, edit(TEMPLATE, template, put("tagsAll.owner", "somebody")))
    assert operations(tagged) == {template: Operation.UPDATE}


def test_what_is_ignored_is_no_difference(demo):
    ignored = changed(demo, edit(NODE_GROUP, POOL, put("scalingConfig.desiredSize", 3)))
    assert operations(ignored) == {}
    wire_name_wrong = changed(
        demo,
        edit(NODE_GROUP, POOL, put("scalingConfig.desiredSize", 3)),
        option(POOL, ignore_changes=("scaling_config.desired_size",)),
    )
    assert operations(wire_name_wrong) == {POOL: Operation.UPDATE}, "as the engine: such a path ignores nothing"


def test_what_the_program_itself_replaces(demo):
    claim = "volumes-vision-data-claim"
    found = changed(demo, edit("kubernetes:core/v1:PersistentVolumeClaim", claim, put("spec.volumeName", "another")))
    assert step(found, claim).operation is Operation.REPLACE and step(found, claim).deleted_first


def test_another_order_of_what_has_none():
    def subnets(*ids):
        return resource("aws:rds/subnetGroup:SubnetGroup", "group", {"subnetIds": list(ids), "name": "group"})

    def group(*types):
        return resource(NODE_GROUP, "group", {"instanceTypes": list(types)})

    assert operations(between([subnets("a", "b", "c")], [subnets("c", "a", "b")])) == {}
    assert operations(between([subnets("a", "b")], [subnets("b", "c")])) == {"group": Operation.UPDATE}
    assert operations(between([group("x", "y")], [group("y", "x")])) == {"group": Operation.REPLACE}, "a list has one"


def test_a_document_in_another_layout_is_the_same():
    def role(text):
        return resource("aws:iam/role:Role", "role", {"assumeRolePolicy": text})

    assert operations(between([role('{"a": 1, "b": [2]}')], [role('{"b":[2],"a":1}')])) == {}
    assert operations(between([role('{"a": 1}')], [role('{"a": 2}')])) == {"role": Operation.UPDATE}


def test_what_is_empty_says_nothing_to_a_cloud_and_something_to_a_cluster():
    def role(**more):
        return resource("aws:iam/role:Role", "role", {"assumeRolePolicy": "{}", **more})

    assert operations(between([role()], [role(tags={}, description="")])) == {}
    before, after = obj("v1", "Pod", "one", spec={}), obj("v1", "Pod", "one", spec={"volumes": [{"emptyDir": {}}]})
    assert operations(between([before], [after]))


def test_names_that_the_provider_makes_stay():
    was = resource("aws:iam/role:Role", "role", {"name": "role-1a2b3c4"})
    will = resource("aws:iam/role:Role", "role", {"name": "role-9f8e7d6"})
    automatic = [dataclasses.replace(each, from_check=("name",)) for each in (was, will)]
    assert operations(between([automatic[0]], [automatic[1]])) == {}
    assert operations(between([was], [will])) == {"role": Operation.REPLACE}
    assert not step(between([was], [will]), "role").deleted_first, "two names can be there at once"


def test_what_keeps_a_fixed_name_goes_before_it_is_replaced():
    was = resource("aws:iam/role:Role", "role", {"name": "fixed", "path": "/"})
    will = resource("aws:iam/role:Role", "role", {"name": "fixed", "path": "/ml/"})
    assert step(between([was], [will]), "role").deleted_first


def test_what_cannot_be_without_what_goes_first_goes_with_it():
    def stack(path):
        role = resource("aws:iam/role:Role", "role", {"name": "fixed", "path": path}, id_="fixed")
        policy = resource("aws:iam/rolePolicy:RolePolicy", "policy", {"role": "fixed", "policy": "{}"})
        return [role, dataclasses.replace(policy, property_dependencies={"role": (role.urn,), "policy": ()})]

    found = between(stack("/"), stack("/ml/"))
    policy = step(found, "policy")
    assert policy.operation is Operation.REPLACE and policy.deleted_first
    assert policy.made_with == step(found, "role").urn


def test_what_is_gone_is_deleted_the_last_first(demo):
    found = changed(demo, drop(NODE_GROUP, POOL), drop(TEMPLATE, f"{POOL}-template"))
    gone = [each.resource.name for each in found.of(Operation.DELETE)]
    assert gone == [POOL, f"{POOL}-template"]


@pytest.mark.parametrize(
    "alias",
    [Alias(name="old"), Alias(urn="urn:pulumi:test::trainyard::aws:s3/bucket:Bucket::old")],
    ids=["name", "urn"],
)
def test_an_alias_is_no_other_resource(alias):
    before = resource("aws:s3/bucket:Bucket", "old", {"bucket": "data"})
    renamed = resource("aws:s3/bucket:Bucket", "new", {"bucket": "data"})
    assert operations(between([before], [renamed])) == {"old": Operation.DELETE, "new": Operation.CREATE}
    found = between([before], [dataclasses.replace(renamed, aliases=(alias,))])
    assert operations(found) == {} and step(found, "new").was is before


def test_a_renamed_component_takes_its_children_along():
    def stack(name, aliases=()):
        chain = f"urn:pulumi:test::trainyard::acme:index:Room::{name}"
        room = resource("acme:index:Room", name, {})
        room = dataclasses.replace(room, urn=chain, custom=False, id=None, aliases=aliases)
        bucket = resource("aws:s3/bucket:Bucket", f"{name}-bucket", {"bucket": "data"})
        urn = f"urn:pulumi:test::trainyard::acme:index:Room$aws:s3/bucket:Bucket::{name}-bucket"
        return [room, dataclasses.replace(bucket, urn=urn, parent=chain)]

    assert set(operations(between(stack("old"), stack("new"))).values()) == {Operation.CREATE, Operation.DELETE}
    assert operations(between(stack("old"), stack("new", (Alias(name="old"),)))) == {}


def test_a_secret_is_compared_and_never_shown():
    def secret(value):
        return obj("v1", "Secret", "login", stringData={"password": Secret(value)})

    found = between([secret("s3cr3t-one")], [secret("s3cr3t-two")])
    assert step(found, "secret-login").operation is Operation.REPLACE
    assert "s3cr3t" not in repr(found.steps[0].differences)
    assert operations(between([secret("same")], [secret("same")])) == {}


def test_what_nobody_can_compare_is_counted_and_is_no_difference():
    before = obj("v1", "Secret", "login", stringData={"password": Secret(UNKNOWN)})
    found = between([before], [obj("v1", "Secret", "login", stringData={"password": Secret("known")})])
    assert operations(found) == {} and found.unseen == 1


def test_the_data_of_a_config_map_forces_nothing_where_the_provider_changes_it_in_place():
    provider = resource("pulumi:providers:kubernetes", "k", {"enableConfigMapMutable": "true"})

    def stack(value, **more):
        made = obj("v1", "ConfigMap", "settings", data={"key": value}, **more)
        return [provider, dataclasses.replace(made, provider=f"{provider.urn}::id")]

    assert operations(between(stack("a"), stack("b"))) == {"configmap-settings": Operation.UPDATE}
    immutable = between(stack("a", immutable=True), stack("b", immutable=True))
    assert operations(immutable) == {"configmap-settings": Operation.REPLACE}
    elsewhere = between([stack("a")[1]], [stack("b")[1]])
    assert operations(elsewhere) == {"configmap-settings": Operation.REPLACE}


def test_another_region_makes_everything_in_it_anew(demo):
    found = changed(demo, edit("pulumi:providers:aws", "aws", put("region", "us-west-2")))
    assert step(found, "network-vpc").operation is Operation.REPLACE
    assert step(found, "cluster-node", "aws:iam/role:Role").operation is Operation.SAME, "roles have no region"


def test_another_cluster_makes_every_object_anew_by_its_identifier(demo):
    found = changed(demo, edit("pulumi:providers:kubernetes", "kubernetes", put("clusterIdentifier", "other")))
    assert step(found, "teams-vision-namespace").operation is Operation.REPLACE
    same = changed(demo, edit("pulumi:providers:kubernetes", "kubernetes", put("kubeconfig", "{}")))
    assert step(same, "teams-vision-namespace").operation is Operation.SAME


@pytest.mark.parametrize(
    ("capacity", "operation"), [(2400, Operation.REPLACE), (9600, Operation.UPDATE), (4800, Operation.SAME)]
)
def test_lustre_grows_in_place_and_shrinks_by_a_new_one(capacity, operation):
    def lustre(size):
        inputs = {"storageCapacity": size, "deploymentType": "PERSISTENT_2", "subnetIds": ["subnet-1"]}
        return resource("aws:fsx/lustreFileSystem:LustreFileSystem", "scratch", inputs)

    assert step(between([lustre(4800)], [lustre(capacity)]), "scratch").operation is operation


@pytest.mark.parametrize(
    ("addresses", "operation"),
    [("10.0.0.0/18", Operation.UPDATE), ("10.0.0.0/22", Operation.REPLACE), ("10.9.0.0/18", Operation.REPLACE)],
)
def test_addresses_of_google_cloud_grow_in_place(addresses, operation):
    def subnetwork(addresses):
        return resource("gcp:compute/subnetwork:Subnetwork", "nodes", {"ipCidrRange": addresses, "region": "a"})

    assert step(between([subnetwork("10.0.0.0/20")], [subnetwork(addresses)]), "nodes").operation is operation


def test_another_project_makes_everything_in_it_anew():
    def stack(project):
        provider = resource("pulumi:providers:gcp", "gcp", {"project": project})
        bucket = resource("gcp:storage/bucket:Bucket", "data", {"name": "data", "location": "EU"})
        return [provider, dataclasses.replace(bucket, provider=f"{provider.urn}::id")]

    assert operations(between(stack("one"), stack("two")))["data"] is Operation.REPLACE


def test_a_type_of_which_nothing_is_known_changes_in_place_and_says_so():
    before, after = (resource("acme:index:Rocket", "rocket", {"thrust": value}) for value in (1, 2))
    found = step(between([before], [after]), "rocket")
    assert found.operation is Operation.UPDATE and not found.known


def test_a_value_that_is_taken_away(demo):
    found = changed(demo, edit(NODE_GROUP, POOL, put("updateConfig", DROP)))
    (difference,) = step(found, POOL).differences
    assert (difference.path, difference.after) == ("updateConfig", None)
