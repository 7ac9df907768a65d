"""Price rules of Google Cloud."""
