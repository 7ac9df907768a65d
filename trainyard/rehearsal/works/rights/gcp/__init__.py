"""What IAM of Google Cloud lets whom do, as far as it is recorded."""
