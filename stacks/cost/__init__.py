"""What a stack costs a month, from what its rehearsal records. `stacks.cost.price.price_stack` is the way in."""
