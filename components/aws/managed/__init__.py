"""Managed training on AWS: SageMaker's domain with its editors, roles with ceilings, tracking, alarms."""
