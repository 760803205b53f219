"""Errors and remarks that users see, and text made safe to show."""
