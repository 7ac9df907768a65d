"""What there is one of on Google Cloud, where a type's card does not say it: by the inputs that make two the same.

Sources: pulumi_gcp 10.2.0 (which inputs make an id); names of buckets are one in all
projects (Cloud Storage, "Bucket names").
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded import types as t
from trainyard.rehearsal.works.references.taken import Identities

IDENTITIES: Final = Identities(
    {
        t.GCP_DATASET: ("datasetId",),
        t.GCP_MACHINE: ("zone?", "name"),
        t.GCP_MANAGED_FOLDER: ("bucket", "name"),
        t.GCP_SCHEDULE: ("region?", "name"),
        t.GCP_SQL_DATABASE: ("instance", "name"),
        t.GCP_SUBSCRIPTION: ("name",),
        t.GCP_TOPIC: ("name",),
        t.GKE_BACKUP_PLAN: ("location?", "name"),
        t.GKE_NODE_POOL: ("location?", "cluster", "name"),
        "gcp:bigquery/table:Table": ("datasetId", "tableId"),
        "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": ("workloadIdentityPoolId",),
        "gcp:sql/user:User": ("instance", "host?", "name"),
        "gcp:workbench/instance:Instance": ("location?", "name"),
    },
    everywhere=frozenset({t.GCP_BUCKET, t.GCP_MANAGED_FOLDER}),
    harmless=frozenset({t.GCP_SERVICE}),
)
