"""Finding recorded resources by type, by URN and by reference."""

from tests.cost.recorded import PROVIDER, resource
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.resources import Resources, refers

KEY = resource("aws:kms/key:Key", "key")
BY_DEPENDENCY = resource(
    "aws:rds/instance:Instance", "a", {"kmsKeyId": UNKNOWN}, property_dependencies={"kmsKeyId": (KEY.urn,)}
)
BY_ID = resource("aws:rds/instance:Instance", "b", {"kmsKeyId": "id-of-key"})
UNSET = resource("aws:rds/instance:Instance", "c", {}, property_dependencies={"kmsKeyId": (KEY.urn,)})
ALL = (PROVIDER, KEY, BY_DEPENDENCY, BY_ID, UNSET)


def test_a_generator_is_read_once_and_nothing_is_lost():
    found = Resources(item for item in ALL)
    assert found.all == ALL
    assert found.of("aws:kms/key:Key") == [KEY]


def test_types_may_be_patterns():
    assert Resources(ALL).of("aws:rds/*", "aws:kms/*") == [KEY, BY_DEPENDENCY, BY_ID, UNSET]
    assert Resources(ALL).of("aws:fsx/*") == []


def test_a_part_of_an_input_refers_to_the_one_that_it_names():
    other = resource("aws:kms/key:Key", "other", {"name": "by-name"})
    both = (KEY.urn, other.urn)
    by_part = resource(
        "aws:eks/cluster:Cluster",
        "d",
        {"keys": ["id-of-key", "by-name", UNKNOWN]},
        property_dependencies={"keys": both},
    )
    found = Resources((KEY, other, by_part))
    assert found.referred(by_part, "keys[0]", KEY.type) == [KEY]
    assert found.referred(by_part, "keys[1]", KEY.type) == [other]
    assert found.referred(by_part, "keys[2]", KEY.type) == [KEY, other], "which of the two is not known yet"
    assert found.referred(by_part, "keys", KEY.type) == [KEY, other]


def test_references_go_by_id_else_by_dependency():
    found = Resources(ALL)
    assert [found.referred(item, "kmsKeyId", KEY.type) for item in (BY_DEPENDENCY, BY_ID, UNSET)] == [[KEY]] * 3
    assert found.referred(BY_ID, "kmsKeyId", "aws:s3/bucket:Bucket") == []
    assert found.referring(KEY, "kmsKeyId", BY_ID.type) == [BY_DEPENDENCY], "an id alone may be of another stack"
    assert not refers(UNSET, "kmsKeyId", KEY)


def test_a_resource_knows_its_provider():
    assert Resources(ALL).provider_of(KEY) is PROVIDER
    assert Resources([KEY]).provider_of(KEY) is None


def test_an_address_or_a_range_that_a_resource_of_google_cloud_tells_means_it():
    for key, text in (("address", "10.1.2.3"), ("ipCidrRange", "10.4.0.0/20")):
        told = resource("gcp:x:Told", "somewhere", {}, outputs={key: text})
        names_it = resource("gcp:x:Names", "names", {"to": f"{text}"}, property_dependencies={"to": (told.urn,)})
        other = resource("gcp:x:Names", "other", {"to": "10.9.9.9"}, property_dependencies={"to": (told.urn,)})
        found = Resources([told, names_it, other])
        assert found.referred(names_it, "to", told.type) == [told]
        assert found.referred(other, "to", told.type) == []
