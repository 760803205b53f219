"""What each family of ops becomes on one device."""
