"""IAM: policy documents, conditions, and the order in which AWS asks them."""
