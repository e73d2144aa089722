"""Reports what GRASS's stock graphical interface shows and holds; loaded into it as `usercustomize`.

It looks whenever the interface has nothing left to do (wx's idle event), and reports what has changed, a
line of JSON for each subject. A part that cannot be read is reported as null. Beside that it changes three
things. For speed, the splash screen goes as soon as the main window stands, and libraries are found in
GRASS's own folder instead of by asking a compiler. And nobody else's Python runs in this process, which
reports: no add-on `g.gui.*`, nothing typed in a Python shell or as the condition of a model's loop.
"""

import ctypes.util
import json
import os
import sys

LIBRARIES = os.path.join(os.environ.get("GISBASE", ""), "lib")
CONSOLE_CHARS = 6000
OUTPUT_CHARS = 40_000
LONGEST_LINE = 60_000
SHIPPED = ("/usr/", "<")
SHELLS = ("/gmodeler/model.py", "/code.py")
# ScienceBoard's tasks ask for the interface's own data, whose names and forms are not ours.
DUMPS = os.environ.pop("SCI_GYM_GRASS_DUMP", "") == "1"


class Reporter:
    """The channel, and what was last said on it."""

    def __init__(self, descriptor):
        self._descriptor, self._said = descriptor, {}

    def say(self, what, value):
        """Report a subject if it is another than before; "N/A" is what JSON does not have."""
        line = json.dumps({"what": what, "is": value}, default=lambda _: "N/A")
        if len(line) > LONGEST_LINE:
            line = json.dumps({"what": what, "is": None})
        if self._said.get(what) != line:
            self._said[what] = line
            os.write(self._descriptor, line.encode() + b"\n")


def look(app, reporter):
    """Report every subject."""
    import wx

    frame = app.GetTopWindow()
    if frame is None or frame.GetName() != "LayerManager":
        return
    readers = {"displays": displays, "console": console, "region": region, "catalog": catalog}
    for what, reader in readers.items():
        reporter.say(what, attempt(reader, frame))
    reporter.say("windows", attempt(windows, wx))
    reporter.say("output", attempt(output, wx))
    reporter.say("busy", attempt(busy, wx))
    reporter.say("plots", attempt(plots, wx))
    reporter.say("main", attempt(wx.Frame.GetTitle, frame))
    if DUMPS:
        for what, value in (attempt(dump, frame) or {}).items():
            reporter.say(what, value)


def attempt(reader, *arguments):
    """What a reader gives; None while the interface is being changed under it."""
    try:
        return reader(*arguments)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, RuntimeError):
        return None


def displays(frame):
    """Every map display, with its layers from top to bottom."""
    book = frame.notebookLayers
    pages = range(book.GetPageCount())
    return [display(book.GetPageText(one), book.GetPage(one).maptree) for one in pages]


def display(name, tree):
    """One map display."""
    panel = tree.GetMapDisplay()
    region, bar = panel.GetMap().region, panel.statusbarManager
    return {
        "name": name,
        "region": {side: float(region[side]) for side in ("n", "s", "e", "w")},
        "scale": round(panel.GetMapScale()),
        "status_bar": bar.GetItemLabels()[bar.GetMode()],
        "toolbars": sorted(name for name, one in panel.toolbars.items() if one and one.IsShown()),
        "auto_render": bool(panel.GetProperty("autoRender")),
        "shows_region": bool(panel.GetProperty("showRegion")),
        "layers": layers(tree),
        "elements": [element(one) for one in panel.decorations.values()],
    }


def element(overlay):
    """A legend, scale bar, text or other thing that is drawn over the map."""
    return {"name": str(overlay.name), "visible": bool(overlay.IsShown()), "command": list(overlay.cmd)}


def layers(tree):
    """The layers, those of groups in their groups' place."""
    found = []
    item = tree.GetFirstChild(tree.root)[0]
    while item and item.IsOk():
        found += layer(tree, item)
        item = tree.GetNextSibling(item)
    return found


def layer(tree, item):
    """An item of the layer tree."""
    info = tree.GetLayerInfo(item)
    if info["type"] == "group":
        inside, (child, _) = [], tree.GetFirstChild(item)
        while child and child.IsOk():
            inside += layer(tree, child)
            child = tree.GetNextSibling(child)
        return inside
    map_layer = info["maplayer"]
    return [
        {
            "name": (map_layer and map_layer.GetName()) or "",
            "type": info["type"],
            "visible": bool(tree.IsItemChecked(item)),
            "opacity": round(map_layer.GetOpacity(), 3) if map_layer else 1.0,
            "command": [str(word) for word in info["cmd"] or []],
        }
    ]


def console(frame):
    """The end of what the console shows."""
    return frame.goutput.cmdOutput.GetText()[-CONSOLE_CHARS:]


def catalog(frame):
    """What is selected in the data catalog: the current mapset, once it is loaded."""
    return [str(node.label) for node in frame.datacatalog.tree.GetSelected()]


def region(frame):
    """The computational region, as GRASS keeps it in the mapset's file."""
    wind = frame.GetMapDisplay().GetMap().GetWindow()
    return {side: float(wind[side]) for side in ("north", "south", "east", "west", "e-w resol", "n-s resol")}


def windows(wx):
    """Titles of the windows beside the main one, in the order in which they were opened."""
    return [one.GetTitle() for one in wx.GetTopLevelWindows() if one.IsShown() and hasattr(one, "GetTitle")][
        1:
    ]


def output(wx):
    """The end of what the open tools' commands have printed, the newest tool's last."""
    tools = [one for one in list(wx.GetTopLevelWindows())[1:] if getattr(one, "goutput", None)]
    return "\n".join(one.goutput.cmdOutput.GetText() for one in tools if one.IsShown())[-CONSOLE_CHARS:]


def busy(wx):
    """Whether a tool still reads about maps that it was given: it then clears fields that depend on them."""
    tools = [one for one in wx.GetTopLevelWindows() if hasattr(one, "requestQ")]
    return any(one.requestQ.unfinished_tasks > one.resultQ.qsize() for one in tools)


def plots(wx):
    """The maps that each open plotting tool shows, by the tool's title."""
    tools = [one for one in wx.GetTopLevelWindows() if one.IsShown() and hasattr(one, "rasterList")]
    return [{"tool": one.GetTitle(), "maps": [str(name) for name in one.rasterList]} for one in tools]


def dump(frame):
    """What ScienceBoard's fork tells: the current layers, their items in the tree, and the first display."""
    tree = frame.GetLayerTree()
    panel = frame.notebookLayers.GetPage(0).maptree.GetMapDisplay()
    edited = getattr(panel.toolbars.get("vdigit"), "mapLayer", None)
    items = [{"name": tree.GetLayerInfo(one, "maplayer").name, **vars(one)} for one in tree._itemWithWindow]
    return {
        "dump.layers": [vars(one) for one in tree.GetMap().layers],
        **{f"dump.windows.{place}": item for place, item in enumerate(items)},
        "dump.windows": len(items),
        "dump.toolbars": {
            "keys": list(panel.toolbars),
            "shown": panel.toolbars["map"].IsShown(),
            "layer": edited and vars(edited),
        },
        "dump.statusbar": {"mode": panel.statusbarManager.GetMode(), "scale": panel.GetMapScale()},
        "dump.region": panel.GetMap().region,
        "dump.output": frame.goutput.cmdOutput.GetText()[-OUTPUT_CHARS:],
    }


def refuse(event, arguments):
    """An audit hook: code that did not come with the interface, or that somebody typed, is not run."""
    if event != "exec":
        return
    code, caller = arguments[0], sys._getframe().f_back
    typed = caller is not None and caller.f_code.co_filename.endswith(SHELLS)
    if typed or not code.co_filename.startswith(SHIPPED):
        raise RuntimeError(f"{code.co_filename} may not run in this process; run it as a command")


def find_library(name, ask=ctypes.util.find_library):
    """A library of GRASS's, or what ctypes finds."""
    for file in (name, f"lib{name}", f"lib{name}.so"):
        if os.path.exists(os.path.join(LIBRARIES, file)):
            return file
    return None if "grass" in name else ask(name)


def watch(descriptor):
    """Report from the interface's first idle moment on."""
    import wx
    import wx.adv

    reporter, splashes, begin = Reporter(descriptor), [], wx.App.MainLoop

    class Splash(wx.adv.SplashScreen):
        """The one that there is, remembered."""

        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            splashes.append(self)

    def on_idle(event):
        event.Skip()
        app = wx.GetApp()
        if app.GetTopWindow() and app.GetTopWindow().GetName() == "LayerManager":
            while splashes:
                splashes.pop().Close()
            look(app, reporter)

    def main_loop(app):
        app.Bind(wx.EVT_IDLE, on_idle)
        return begin(app)

    sys.addaudithook(refuse)
    wx.adv.SplashScreen, wx.App.MainLoop = Splash, main_loop
    ctypes.util.find_library = find_library


# Commands that the interface starts are Python as well, and have neither the variable nor the descriptor.
_DESCRIPTOR = os.environ.pop("SCI_GYM_STATE_FD", None)
if _DESCRIPTOR is not None and any(part.endswith("/wxgui.py") for part in sys.orig_argv):
    os.set_inheritable(int(_DESCRIPTOR), False)
    watch(int(_DESCRIPTOR))
