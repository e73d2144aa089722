"""Jinja templates: web pages, each one file with its CSS and JavaScript, and a task file to start from."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


def render(name: str, **values: Any) -> str:
    """Fill in a template of this folder; in a page, values are escaped."""
    environment = Environment(
        loader=PackageLoader("sci_gym", "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template(name).render(values)
