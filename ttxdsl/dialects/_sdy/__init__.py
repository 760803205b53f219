"""What is behind `ttxdsl.dialects.sdy`, where everything is imported from."""
