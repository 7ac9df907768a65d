"""Sizing: from a request to a plan. Pure: no Pulumi, no network, nothing of the rest of the project."""
