"""The ttxdsl command and its parts."""
