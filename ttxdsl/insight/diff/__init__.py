"""What two programs do differently."""
