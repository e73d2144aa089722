"""Celestia: space in the stock program, of which a user brings an installation."""

ENV_ID = "SciBoard-Celestia-v0"
