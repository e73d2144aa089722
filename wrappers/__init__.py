"""Gymnasium wrappers: other action spaces, other observations, conversations."""

from sci_gym.wrappers.chat import ChatMessages
from sci_gym.wrappers.computer13 import Computer13Json
from sci_gym.wrappers.marks import MarkActions
from sci_gym.wrappers.pyautogui_text import PyAutoGuiText
from sci_gym.wrappers.screenshot import ScreenshotOnly
from sci_gym.wrappers.text_actions import TextActions
from sci_gym.wrappers.tools import ToolEnv

__all__ = [
    "ChatMessages",
    "Computer13Json",
    "MarkActions",
    "PyAutoGuiText",
    "ScreenshotOnly",
    "TextActions",
    "ToolEnv",
]
