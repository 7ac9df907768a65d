"""What rules, dashboards and controllers ask of Prometheus, against what the recorded exporters answer."""
