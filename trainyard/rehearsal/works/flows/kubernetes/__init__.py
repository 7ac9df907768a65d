"""Network policies, and the pods that they select."""
