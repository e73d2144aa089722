"""The web pages of sci_gym: Jinja templates with inline CSS and JavaScript, so that a page is one file."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def render(name: str, **values: Any) -> str:
    """Fill in a template of this folder; values are escaped."""
    loader = PackageLoader("sci_gym", "templates")
    return (
        Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
        .get_template(name)
        .render(values)
    )
