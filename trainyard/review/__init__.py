"""What a stack comes to: rehearsal, policies and cost joined, and every report of them."""
