"""The trace of a program's ops from the input through every stage.

`stacks` says where the user's program has each op, `listing` prints every stage and says
what changed, `graph` is the program as nodes with shardings, `layouts` says which device
holds which part, and `data` puts it all together, as the report (`ttxdsl.insight.report.html`)
and Model Explorer show it.
"""
