"""Finding the first stage that changes what a program computes, and a small proof of it.

- `steps`: the stages as steps that can be taken one by one;
- `trials`: inputs with the results that are right for them;
- `judge`: taking one step and holding the program after it against the trials;
- `failure`: what went wrong, in which result, on which device;
- `cutting`, `minimize`: the smallest program on which the step still fails;
- `check`: all of it together, the `ttxdsl check` command's work.
"""
