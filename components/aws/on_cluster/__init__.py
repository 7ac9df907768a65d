"""What only AWS needs on its clusters: storage drivers and volumes, the fabric, the autoscaler, passwords of databases.

It stands on `components.k8s` and on `components.aws`, and neither of them knows it.
"""
