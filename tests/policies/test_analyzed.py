"""What the analyser hands over becomes what a recording holds."""

from pulumi_policy import PolicyProviderResource, PolicyResource, PolicyResourceOptions, ResourceValidationArgs
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from trainyard.policies.analyzed import recorded_resource, recorded_resources
from trainyard.recorded.model import UNKNOWN

OPTIONS = PolicyResourceOptions(True, ["size"], None, [], None, [], "urn:parent")
PROPERTIES = {
    "size": 2.0,
    "share": 0.5,
    "on": True,
    "id": UNKNOWN_STRING_VALUE,
    "rules": [{"id": UNKNOWN_STRING_VALUE, "days": 30.0}, UNKNOWN_STRING_VALUE, None],
}


def provider(tags):
    return PolicyProviderResource("pulumi:providers:aws", {"defaultTags": tags}, "urn:provider", "aws")


def args(properties, made_by=None):
    return ResourceValidationArgs(
        "aws:s3/bucket:Bucket", unknown_checking_proxy(properties), "urn:data", "data", OPTIONS, made_by
    )


def test_proxies_become_plain_values_with_marks_for_unknowns():
    found = recorded_resource(args(PROPERTIES))
    assert found.inputs == {
        "size": 2,
        "share": 0.5,
        "on": True,
        "id": UNKNOWN,
        "rules": [{"id": UNKNOWN, "days": 30}, UNKNOWN, None],
    }
    assert type(found.inputs["size"]) is int and found.inputs["on"] is True
    assert (found.type, found.urn, found.name, found.parent) == (
        "aws:s3/bucket:Bucket",
        "urn:data",
        "data",
        "urn:parent",
    )
    assert found.parent == "urn:parent" and found.protect and found.ignore_changes == ("size",)


def test_tags_of_the_provider_are_there_where_its_check_was_not_called():
    tags = '{"tags": {"client": "a", "team": "shared"}}'
    own = recorded_resource(args({"tags": {"team": "vision"}}, provider(tags)))
    assert own.inputs["tagsAll"] == {"client": "a", "team": "vision"}
    written = recorded_resource(args({"tagsAll": {"team": "x"}}, provider(tags)))
    assert written.inputs["tagsAll"] == {"team": "x"}
    assert recorded_resource(args({"tags": UNKNOWN_STRING_VALUE}, provider(tags))).inputs["tagsAll"] is UNKNOWN
    assert "tagsAll" not in recorded_resource(args({})).inputs


def test_a_stacks_resources_know_their_providers_and_what_they_are_made_of():
    aws = provider(None)
    key = PolicyResource("aws:kms/key:Key", {}, "urn:key", "key", OPTIONS, aws, None, [], {})
    bucket = PolicyResource("aws:s3/bucket:Bucket", {}, "urn:data", "data", OPTIONS, aws, None, [], {"key": [key]})
    found = recorded_resources(item for item in (key, bucket))
    assert [resource.urn for resource in found.all] == ["urn:provider", "urn:key", "urn:data"]
    [data] = found.of("aws:s3/bucket:Bucket")
    assert data.property_dependencies == {"key": ("urn:key",)}
    assert found.provider_of(data) is found.all[0]
