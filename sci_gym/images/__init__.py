"""Images: guests for virtual machines, built from the distribution's packages and kept by their content."""

from sci_gym.images.bring import add_image, write_daemon
from sci_gym.images.builder import build, missing
from sci_gym.images.recipe import Recipe
from sci_gym.images.store import Image, find_image, image_named, images

__all__ = [
    "Image",
    "Recipe",
    "add_image",
    "build",
    "find_image",
    "image_named",
    "images",
    "missing",
    "write_daemon",
]
