"""TeXstudio's own settings file."""

from __future__ import annotations

import configparser

SECTION = "texmaker"


def read_settings(data: bytes | None) -> dict[str, str]:
    """The settings by key, such as "Editor/Font Size" (QSettings writes the slash as a backslash).

    A file that is missing or none of Qt's gives no settings.
    """
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=(";",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string((data or b"").decode("utf-8", "replace"))
    except configparser.Error:
        return {}
    found = parser[SECTION] if parser.has_section(SECTION) else {}
    return {key.replace("\\", "/").replace("%20", " "): value for key, value in found.items()}
