"""KAlgebra, KDE's calculator and plotter, as an environment."""

ENV_ID = "SciBoard-KAlgebra-v0"
