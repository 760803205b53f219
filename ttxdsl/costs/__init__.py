"""Costs, without IR: collectives, links, machines, schedules."""
