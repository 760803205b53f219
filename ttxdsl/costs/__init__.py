"""What things cost, without IR: collectives, links, machines, schedules."""
