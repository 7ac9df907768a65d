"""What is asked of the account that a stack's credentials lead to: as whom, with which time-outs, told how it fails."""
