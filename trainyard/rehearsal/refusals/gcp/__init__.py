"""What Google Cloud and its provider refuse."""
