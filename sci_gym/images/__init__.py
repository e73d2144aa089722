"""Images: guests for virtual machines, built from the distribution's packages and kept by their content."""

from sci_gym.images.build import build, missing
from sci_gym.images.recipe import Recipe
from sci_gym.images.store import Image, find_image, images

__all__ = ["Image", "Recipe", "build", "find_image", "images", "missing"]
