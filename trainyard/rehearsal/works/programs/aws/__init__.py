"""What programs and alarms name of AWS."""
