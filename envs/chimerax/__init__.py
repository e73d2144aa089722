"""ChimeraX: structures of molecules in the stock program, of which a user brings an installation."""

ENV_ID = "SciBoard-ChimeraX-v0"
