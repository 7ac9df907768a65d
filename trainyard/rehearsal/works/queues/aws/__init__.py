"""What queues meet of AWS."""
