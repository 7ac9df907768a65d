"""A stack that stands on AWS."""

from __future__ import annotations

from trainyard.plan.aws.parts import AwsPlan
from trainyard.preflight.model import Subject

AwsSubject = Subject[AwsPlan]
"""What every question to AWS is asked about."""
