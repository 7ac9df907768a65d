"""What a stack costs a month, from what its rehearsal records. `trainyard.cost.price.price_stack` is the way in."""
