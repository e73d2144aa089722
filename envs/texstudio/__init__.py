"""TeXstudio, the LaTeX editor, as an environment."""

ENV_ID = "SciBoard-TeXstudio-v0"
