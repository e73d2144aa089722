"""GRASS GIS: maps of a made-up valley in the stock graphical interface."""

ENV_ID = "SciBoard-GrassGIS-v0"
