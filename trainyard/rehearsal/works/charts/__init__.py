"""Charts: whether a release's values let its programs start, and do what the rest of the stack counts on."""
