"""What is looked at: a stack whose ground is on Google Cloud."""

from __future__ import annotations

from trainyard.plan.gcp.parts import GcpPlan
from trainyard.preflight.model import Subject

GcpSubject = Subject[GcpPlan]
