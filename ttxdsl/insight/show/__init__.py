"""The slices of a value that devices hold."""
