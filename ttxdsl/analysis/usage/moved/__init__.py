"""Bytes that a program moves through a device's memory."""
