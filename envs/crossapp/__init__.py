"""Work that crosses programs: KAlgebra, TeXstudio, GRASS GIS and ChimeraX on one desktop."""

ENV_ID = "SciBoard-CrossApp-v0"
