"""What a policy sees: text of the accessibility tree, and Set-of-Marks over the screenshot.

Set-of-Marks: Yang et al. 2023, "Set-of-Mark Prompting Unleashes Extraordinary Visual Grounding in GPT-4V";
the text table follows OSWorld and ScienceBoard: tag, role, name, text, position, size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from sci_gym.specs import A11yNode, A11yTree, Frame, State

MAX_TEXT_CHARS = 65_536
HEADER = "tag\trole\tname\ttext\tx\ty\tw\th"
_CUT = "\n(cut)"
_MIN_SIDE_PX = 3
_INTERACTIVE = frozenset(
    {
        "push button", "toggle button", "check box", "radio button", "menu item", "check menu item",
        "radio menu item", "page tab", "text", "entry", "password text", "spin button", "combo box",
        "slider", "scroll bar", "link", "list item", "table cell", "tree item", "table column header",
        "button", "icon", "terminal", "document web",
    }
)  # fmt: skip
_FILL = ((214, 39, 40), (31, 119, 180), (44, 160, 44), (148, 103, 189), (140, 86, 75), (227, 119, 194))
_LABEL_PX = 14


def is_markable(node: A11yNode) -> bool:
    """Whether a policy can act at a node: interactive, enabled, on screen, large enough to hit."""
    return (
        node.role in _INTERACTIVE
        and node.showing
        and (node.has(State.ENABLED) or node.has(State.SENSITIVE))
        and node.box is not None
        and min(node.box.width, node.box.height) >= _MIN_SIDE_PX
    )


def find_marks(tree: A11yTree, width: int, height: int) -> tuple[A11yNode, ...]:
    """The nodes that get a mark, in tree order; mark id i is element i - 1.

    Args:
        tree: what is on screen.
        width: of the screen, in pixels; a node whose middle is off screen gets no mark.
        height: of the screen, in pixels.
    """
    marks = []
    seen = set()
    for node in tree:
        if not is_markable(node) or node.box is None or node.box in seen:
            continue
        seen_part = node.box.clip(width, height)
        x, y = seen_part.center
        if 0 <= x < width and 0 <= y < height and min(seen_part.width, seen_part.height) > 0:
            seen.add(node.box)
            marks.append(node)
    return tuple(marks)


def format_nodes(nodes: Iterable[A11yNode], marks: Sequence[A11yNode]) -> str:
    """A header and a line per node, tab-separated: tag, role, name, text, x, y, w, h.

    The tag is the mark id of a marked node, else empty. Text beyond `MAX_TEXT_CHARS` is cut, and says so.
    """
    tags = {node.index: str(tag) for tag, node in enumerate(marks, start=1)}
    lines = [HEADER]
    for node in nodes:
        if node.box is None:
            continue
        texts = "\t".join(map(_one_line, (node.role, node.name, node.text)))
        x, y, width, height = node.box.x, node.box.y, node.box.width, node.box.height
        lines.append(f"{tags.get(node.index, '')}\t{texts}\t{x}\t{y}\t{width}\t{height}")
    return bounded("\n".join(lines))


def bounded(text: str) -> str:
    """A text that fits into an observation; one beyond `MAX_TEXT_CHARS` is cut, and says so."""
    return text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - len(_CUT)] + _CUT


def describe_tree(tree: A11yTree, marks: Sequence[A11yNode]) -> str:
    """What is on screen and says something or can be acted at, as text."""
    marked = {node.index for node in marks}
    kept = [node for node in tree if node.name or node.text or node.index in marked]
    return format_nodes(kept, marks)


def draw_marks(screenshot: Frame, marks: Sequence[A11yNode]) -> Frame:
    """A copy of the screenshot with a numbered box around each mark, uint8 `[H, W, 3]`."""
    image = Image.fromarray(screenshot)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(_LABEL_PX)
    for tag, node in enumerate(marks, start=1):
        if node.box is None:
            continue
        box = node.box.clip(image.width, image.height)
        color = _FILL[tag % len(_FILL)]
        right, bottom = box.x + box.width - 1, box.y + box.height - 1
        draw.rectangle((box.x, box.y, right, bottom), outline=color, width=2)
        label = str(tag)
        width = draw.textlength(label, font=font)
        left = min(box.x, image.width - int(width) - 4)
        draw.rectangle((left, box.y, left + width + 3, box.y + _LABEL_PX + 2), fill=color)
        draw.text((left + 2, box.y), label, fill=(255, 255, 255), font=font)
    return np.asarray(image)


def _one_line(text: str) -> str:
    return text.replace("\t", " ").replace("\n", "\\n")
