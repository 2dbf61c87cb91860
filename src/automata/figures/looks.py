"""Colours and markers: one definition for figures and page, which draws without matplotlib."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours: distinct for the colour-blind; the markers tell them apart in grey.
# Grey stands for their yellow, which is too light on white. In this order they are drawn, and
# AUTOMATA, which the figures are about, comes to lie above the others.
COLOURS = {
    "full": "#000000",
    "full-again": "#000000",
    "untuned": "#000000",
    "random": "#E69F00",
    "adaptive-random": "#56B4E9",
    "rs2": "#009E73",
    "craig": "#CC79A7",
    "glister": "#7F7F7F",
    "gradmatch-adaptive": "#0072B2",
    "gradmatch": "#D55E00",
}
MARKERS: dict[str, Any] = {
    "full": "*",
    "full-again": (5, 1, 36.0),  # a star upside down
    "untuned": "_",
    "random": "s",
    "adaptive-random": "D",
    "rs2": "^",
    "craig": "v",
    "glister": "X",
    "gradmatch-adaptive": "P",
    "gradmatch": "o",
}
SCHEDULER_COLOURS = {"hyperband": "#0072B2", "asha": "#E69F00", "none": "#7F7F7F"}
SCHEDULER_MARKERS = {"hyperband": "o", "asha": "s", "none": "D"}
