"""What programs and alerts name of Google Cloud."""
