"""From one sharding of a tensor to another."""
