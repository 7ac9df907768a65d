"""Values of AWS resources: Amazon's own models first, then what they leave open."""
