"""Before anything is created: what the account, the network and the caller's own machine say to a stack's plan."""
