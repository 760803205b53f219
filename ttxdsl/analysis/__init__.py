"""What a module says of itself: who calls whom, what is solved, where the batch is."""
