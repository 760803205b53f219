"""Programs as compilers have them that call libraries for products, as XLA for CPUs does."""
