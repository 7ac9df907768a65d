"""What a cluster is watched by: series, recording rules, alerts with their runbooks, dashboards. It knows no cloud."""
