"""Steps as visitors write them to see whether a plan is right."""
