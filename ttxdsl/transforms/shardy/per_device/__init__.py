"""From a program of whole tensors to that of each device, as Shardy writes it."""
