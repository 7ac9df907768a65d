"""The names of storage drivers, by which volumes and classes of storage say who mounts them.

Sources: the CSIDriver objects of the drivers' own charts and add-ons, as generally known in 2026-11. Those that GKE
brings for shared files stand in `trainyard/conventions/gcp.py`, where components ask for them.
"""

from __future__ import annotations

from typing import Final

EBS_DRIVER: Final = "ebs.csi.aws.com"
EFS_DRIVER: Final = "efs.csi.aws.com"
S3_DRIVER: Final = "s3.csi.aws.com"
PD_DRIVER: Final = "pd.csi.storage.gke.io"
FUSE_DRIVER: Final = "gcsfuse.csi.storage.gke.io"
