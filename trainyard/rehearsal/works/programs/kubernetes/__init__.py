"""What a pod's program is told, against its pod, its services and its certificates."""
