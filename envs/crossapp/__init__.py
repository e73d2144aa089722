"""Work that crosses programs: KAlgebra, TeXstudio and GRASS GIS on one desktop."""

ENV_ID = "SciBoard-CrossApp-v0"
