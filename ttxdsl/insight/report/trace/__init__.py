"""The trace of a program's ops from the input through every stage.

`stacks` finds each op's place in the user's program, `listing` prints every stage and
its changes, `graph` is the program as nodes with shardings, `layouts` gives the part
that each device holds, and `data` puts it all together, as the report
(`ttxdsl.insight.report.html`) and Model Explorer show it.
"""
