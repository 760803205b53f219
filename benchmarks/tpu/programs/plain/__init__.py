"""Steps as someone writes them who wants to try a plan: nothing shared with other programs but shapes."""
