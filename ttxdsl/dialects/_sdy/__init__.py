"""The modules behind `ttxdsl.dialects.sdy`, which is the place to import from."""
