"""What Google Cloud is asked before a stack is created, through `gcloud` as whoever calls; all of it read-only."""
