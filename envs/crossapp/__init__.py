"""Work that crosses programs: KAlgebra, TeXstudio, GRASS GIS, ChimeraX and Lean on one desktop."""

ENV_ID = "SciBoard-CrossApp-v0"
