"""What ``teiten doctor`` measures and prints."""
