"""Dashboards: a small model, the pages, and how they are written for Grafana."""
