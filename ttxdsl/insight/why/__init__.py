"""Why a sharding or a collective is there: causes, conflicts, and what would change it."""
