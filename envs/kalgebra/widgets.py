"""Where things are in KAlgebra's accessibility tree.

Functions take the part of the tree that KAlgebra owns, and give None where a widget is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import get_args

from sci_gym.envs.kalgebra.arguments import Tab
from sci_gym.specs import A11yNode, A11yTree, State

TABS: tuple[str, ...] = get_args(Tab)
TOOLS = {"List": 0, "Add": 1, "Variables": 2, "Viewport": 3}
"""Pages of the dock beside the 2D graph, by place: the second is called "Editing" while a plot is edited."""


def first(nodes: Iterable[A11yNode], holds: Callable[[A11yNode], bool]) -> A11yNode | None:
    """The first node for which a condition holds."""
    return next((node for node in nodes if holds(node)), None)


def child(tree: A11yTree, node: A11yNode | None, role: str, name: str | None = None) -> A11yNode | None:
    """The first child of a role, and of a name if one is given."""
    if node is None:
        return None
    return first(tree.children(node), lambda other: other.role == role and name in (None, other.name))


def below(tree: A11yTree, node: A11yNode | None, role: str, name: str | None = None) -> A11yNode | None:
    """The first descendant of a role, and of a name if one is given."""
    if node is None:
        return None
    return first(tree.descendants(node), lambda other: other.role == role and name in (None, other.name))


def tab_list(tree: A11yTree) -> A11yNode | None:
    """The main tabs; its name is that of the current one."""
    return first(
        tree, lambda node: node.role == "page tab list" and child(tree, node, "page tab", TABS[0]) is not None
    )


def tab(tree: A11yTree, name: str) -> A11yNode | None:
    """One of the main tabs."""
    return child(tree, tab_list(tree), "page tab", name)


def calculator_input(tree: A11yTree) -> A11yNode | None:
    """The input line below the calculator's log."""
    return _input(tree, with_log=True)


def input_3d(tree: A11yTree) -> A11yNode | None:
    """The input line below the 3D graph."""
    return _input(tree, with_log=False)


def _input(tree: A11yTree, with_log: bool) -> A11yNode | None:
    tabs = tab_list(tree)
    owner = None if tabs is None else first(tree, lambda node: node.index == tabs.parent)
    pages = child(tree, owner, "layered pane")
    for page in tree.children(pages) if pages is not None else ():
        line = child(tree, page, "text")
        if line is not None and with_log == (below(tree, page, "document web") is not None):
            return line
    return None


def dock(tree: A11yTree, name: str) -> A11yNode | None:
    """A dock by its title: "Variables", "Functions" or "Operations"."""
    return first(tree, lambda node: node.role == "frame" and node.name == name)


def tool(tree: A11yTree, name: str) -> A11yNode | None:
    """The tab of one of `TOOLS`."""
    pages = [
        node for node in tree.descendants(functions) if node.role == "page tab"
    ] if (functions := dock(tree, "Functions")) is not None else []  # fmt: skip
    last = [node for node in pages if node.parent == pages[-1].parent]
    return last[TOOLS[name]] if len(last) == len(TOOLS) else None


def function_input(tree: A11yTree) -> A11yNode | None:
    """The line in which a plane plot is written, of the dock's second page."""
    button = below(tree, dock(tree, "Functions"), "push button", "OK")
    lines = [
        node for node in tree if button is not None and node.parent == button.parent and node.role == "text"
    ]
    return lines[-1] if lines else None


def cells(tree: A11yTree, table: A11yNode | None) -> list[tuple[A11yNode, A11yNode]]:
    """The rows of a table or tree of two columns."""
    if table is None:
        return []
    found = [node for node in tree.children(table) if node.role == "table cell"]
    if any(node.cell is None for node in found):
        return list(zip(found[::2], found[1::2], strict=False))
    at = {node.cell: node for node in found}
    rows = sorted({node.cell[0] for node in found if node.cell is not None})
    return [(at[row, 0], at[row, 1]) for row in rows if (row, 0) in at and (row, 1) in at]


def menu_item(tree: A11yTree, menu: str, item: str) -> A11yNode | None:
    """An entry of one of the menus in the menu bar."""
    return below(tree, menu_title(tree, menu), "menu item", item)


def menu_title(tree: A11yTree, menu: str) -> A11yNode | None:
    """The title of a menu in the menu bar."""
    bar = first(tree, lambda node: node.role == "menu bar")
    return child(tree, bar, "menu item", menu)


def checked(tree: A11yTree, menu: str, items: Iterable[str]) -> str | None:
    """Which of some exclusive menu entries is checked."""
    for item in items:
        node = menu_item(tree, menu, item)
        if node is not None and node.has(State.CHECKED):
            return item
    return None
