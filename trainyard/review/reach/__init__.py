"""What a team's pod can reach and do: its network, its rights in the cloud and in the cluster, volumes and queues."""
