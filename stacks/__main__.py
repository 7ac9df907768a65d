"""What `pulumi up` runs."""

from trainyard.stacks.program import main

main()
