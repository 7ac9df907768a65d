"""A violation made by hand, which the formats and the page are tried on."""

from trainyard.review.policy_check.model import Accepted, Violation

VIOLATION = Violation(
    policy="public-database",
    level="mandatory",
    severity="critical",
    message="publiclyAccessible is on",
    description="A database has no public address.",
    remediation="Leave publiclyAccessible off.",
    controls=("NIST 800-53r5 SC-7",),
    urn="urn:pulumi:demo::trainyard::aws:rds/instance:Instance::tracking",
    type="aws:rds/instance:Instance",
    name="tracking",
    component="mlflow",
)
ACCEPTED = Accepted("public-bucket", VIOLATION.urn, "*", "a museum", "me", "2027-01-01")
