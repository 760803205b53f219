"""From a partitioned StableHLO program to ttir."""
