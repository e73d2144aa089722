"""Lean 4: theorems to prove, without a screen."""

ENV_ID = "SciBoard-Lean-v0"
