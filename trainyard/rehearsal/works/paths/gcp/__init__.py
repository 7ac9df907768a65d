"""Ways through a network of Google Cloud."""
