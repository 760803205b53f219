"""What the TPU's compiler says of programs, without a chip."""
