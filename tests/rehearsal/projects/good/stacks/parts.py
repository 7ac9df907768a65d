"""A component, imported by its bare name."""

import pulumi
import pulumi_aws.s3 as s3


class Storage(pulumi.ComponentResource):
    """A versioned bucket."""

    bucket: s3.Bucket

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None):
        super().__init__("mini:index:Storage", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.bucket = s3.Bucket(f"{name}-Data", opts=child)
        s3.BucketVersioning(
            f"{name}-versioning",
            bucket=self.bucket.id,
            versioning_configuration={"status": "Enabled"},
            opts=child,
        )
        self.register_outputs({"bucket": self.bucket.bucket})
