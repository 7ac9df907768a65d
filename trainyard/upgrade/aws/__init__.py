"""What EKS says to an upgrade."""
