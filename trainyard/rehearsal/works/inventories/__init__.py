"""What programs that others wrote export, take and are configured with: lists made from their own documents."""
