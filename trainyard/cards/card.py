"""What a card says, and how its texts are written: an entry of a YAML file beside this module has these keys.

Ids, ARNs and outputs are given as texts with fields in braces, which `rehearsal.engine.synthesised` fills in for one
resource. A field may be cut to its first characters (`{hex:.17}`).

======================  ===============================================================================
field                   stands for
======================  ===============================================================================
`name`                  the logical name
`cloud_name`            the name in the cloud: what was given or what Check made, else the logical name
`hex`, `HEX`            64 hex digits that depend on type and logical name; in capitals
`digest:word.length`    other hex digits, that depend on a word too (`{digest:vpc.17}`)
`uuid`                  a UUID of version 4's form
`octet`, `host`         a number from 0 to 255; one from 1 to 254; the same whatever the client is called
`id`                    the resource's id, in ARNs and outputs
`arn`                   the resource's ARN, in ids; there `id` stands for the UUID
`region`, `account`     of the provider; the region of the resource where it names its own
`project`               of Google Cloud: the resource's where it names one, else the provider's
`partition`             `aws`, or China's or the government's
`dns_suffix`            `amazonaws.com`, or China's
`path`                  `cloud_name` without a slash that it begins with
`scope`                 `global` of what is for CloudFront, else `regional`
`object_id`             `namespace/name` of a Kubernetes object or a Helm release
`input:key|default`     an input that is a text or a whole number; the default, which may hold fields, otherwise
`tail:key`              what follows the last colon of an input
`end:key|default`       what follows its last colon or slash; the default, where there is no input
`address:key`           an input that is a URL, without `https://`
======================  ===============================================================================

Where the facts of Amazon's types are from: the operations that the AWS provider calls to make a resource, with
botocore's models of them (1.44.5, 2026-11-21); ids and ARNs from the service authorization reference (ARN formats,
read 2026-11) and the resource documentation; automatic names from the provider's own lengths and the services' as
generally known. What replaces a resource (`replaced_by`, `unordered`) was taken from the schemas in the providers' own
source: Terraform's AWS provider 6.58.0 (2026-08-05), from which Pulumi's 7.51.1 is made, each input that it marks as
forcing a new resource or as a set, under its Pulumi name; Terraform's Google provider (2026-08-21) in the same way;
pulumi-kubernetes (diff.go and helm_release.go, 2026-07-01);
the documentation of the random and tls providers (2026-11). What an API server refuses to change (`refused`): the
validation of updates in Kubernetes 1.34.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Seconds:
    """How long one resource takes to be made."""

    value: float
    source: str  # who published or measured it, or `estimate` with what takes the time
    date: datetime.date  # of the source or of the estimate


@dataclass(frozen=True, slots=True)
class Free:
    """Why resources of a type cost nothing themselves."""

    free: str


@dataclass(frozen=True, slots=True)
class ServiceModel:
    """Where Amazon's own models (botocore's) describe the inputs of a type.

    `calls` are `service.Operation` or `service.Operation.Member.Member`; an input is looked up in each, in order.
    `names` gives, by input path without indexes, the member path within the calls' inputs (relative to where the input
    above it was found, or from the top when it begins with `/`). What the models do not describe are switches of the
    provider, or values that other rules check.
    """

    calls: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    undescribed: tuple[str, ...] = ()  # input paths
    caseless: tuple[str, ...] = ()  # input paths whose words the provider takes in capitals or without
    unset_by_zero: tuple[str, ...] = ()  # input paths of numbers of which the provider sends no 0
    required: tuple[str, ...] = ()  # input paths that the provider asks for, and the service by itself does not
    by_name: bool = False  # nobody looked: a 0 may be sent or not, and there are more kinds of machines than it lists


@dataclass(frozen=True, slots=True)
class AutomaticName:
    """What holds of the name that Pulumi makes of the logical name, where the program gives none."""

    input: str  # that holds the name
    longest: int  # characters that the service takes
    pattern: str  # regular expression of a logical name that makes a name which the service takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is known of one resource type; of all types that begin alike, where `type` ends with `*`."""

    type: str
    seconds: Seconds  # until it is made
    price: str | Free | None  # the rule, as a module and function of `trainyard.cost.rules`; None: nobody has said
    taggable: bool  # whether it takes tags, which on Google Cloud are labels
    stateful: bool  # whether it holds what its users put there, or the key to that: deleting it loses it
    id: str = "{cloud_name}-{hex:.8}"
    arn: str = ""  # the resource's part; "": the kind and the id
    arn_service: str = ""  # where it is not the type's own module
    outputs: Mapping[str, Any] = field(default_factory=dict)  # that programs read and no annotation promises
    outputs_with: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # those there with an input, by input
    secret_outputs: tuple[str, ...] = ()
    model: ServiceModel | None = None
    automatic_name: AutomaticName | None = None
    key_input: str = ""  # the top-level input that names the key it is encrypted with
    seconds_in_smoke_job: Seconds | None = None  # until it is done, where it is part of a smoke job
    replaced_by: tuple[str, ...] | None = None  # inputs of which another value replaces it (`*`: all); None: not known
    unordered: tuple[str, ...] = ()  # lists of which the provider knows no order
    refused: tuple[str, ...] = ()  # inputs that cannot be changed, and for which nothing is replaced: the update fails
    unchangeable: tuple[str, ...] = ()  # inputs that the server refuses to change: another value makes a new object
    used_by_the_hour: bool = False  # whether people start in it what is paid for while it runs, and not made here
    pod_spec: str = ""  # where a Kubernetes object holds the specification of its pods, as a path
    job_templates: str = ""  # where one holds a list of templates of jobs
