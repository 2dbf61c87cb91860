"""What a plan of many runs costs."""
