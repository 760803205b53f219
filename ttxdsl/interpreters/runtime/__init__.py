"""Running modules and regions: engines, plans, limits, memory."""
