"""From a plan to the components that make it."""
