"""Work that crosses programs: KAlgebra and TeXstudio on one desktop."""

ENV_ID = "SciBoard-CrossApp-v0"
