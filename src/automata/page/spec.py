"""What a panel looks like: one Vega-Lite chart, compiled once and filled by the page's script."""

from __future__ import annotations

from functools import cache
from typing import Any

import vl_convert

from automata import names

HEIGHT = 270
LABEL_DISTANCE = (6, 9)
"""Of a fraction from its point, in pixels across and down."""

SHAPES: dict[Any, str] = {
    "*": "M0,-1L.235,-.324L.951,-.309L.38,.124L.588,.809L0,.4L-.588,.809L-.38,.124"
    "L-.951,-.309L-.235,-.324Z",
    (5, 1, 36.0): "M0,1L.235,.324L.951,.309L.38,-.124L.588,-.809L0,-.4L-.588,-.809L-.38,-.124"
    "L-.951,.309L-.235,.324Z",
    "1": "M-.12,-.12L-.83,-.53L-.7,-.75L0,-.34L.7,-.75L.83,-.53L.12,-.12L.12,.9L-.12,.9Z",
    "_": "M-1,-.18H1V.18H-1Z",
    "s": "M-.8,-.8H.8V.8H-.8Z",
    "D": "M0,-1L1,0L0,1L-1,0Z",
    "^": "M0,-.9L.95,.75H-.95Z",
    "v": "M0,.9L.95,-.75H-.95Z",
    "o": "M.9,0A.9,.9,0,1,1,-.9,0A.9,.9,0,1,1,.9,0",
    "P": "M-.33,-.95H.33V-.33H.95V.33H.33V.95H-.33V.33H-.95V-.33H-.33Z",
    "X": "M-.9,-.43L-.43,-.9L0,-.47L.43,-.9L.9,-.43L.47,0L.9,.43L.43,.9L0,.47L-.43,.9L-.9,.43"
    "L-.47,0Z",
}
"""Matplotlib's marker -> path in the square from -1 to 1: for Vega and for the legend alike."""

SIZES = {"full": 260, "full-again": 200}
"""Area of a point in square pixels, where it is not the usual one."""
USUAL_SIZE = 110


def look(selector: str) -> dict[str, Any]:
    """Return how a selector is drawn, as in the figures: colour, shape, size, side of labels."""
    order = list(names.SELECTORS)
    # Each writes at one corner of its points: beside them lie the bars.
    corner = order.index(selector) % 4 if selector in order else 0
    across, down = 1 - 2 * (corner % 2), 1 - 2 * (corner // 2)
    return {
        "colour": names.SELECTORS[selector].colour,
        "shape": SHAPES[names.SELECTORS[selector].marker],
        "size": SIZES.get(selector, USUAL_SIZE),
        "dx": LABEL_DISTANCE[0] * across,
        "dy": LABEL_DISTANCE[1] * down,
        "align": "left" if across > 0 else "right",
    }


@cache
def compiled_panel() -> dict[str, Any]:
    """Return the panel as a Vega specification, without data."""
    spec: dict[str, Any] = vl_convert.vegalite_to_vega(panel())
    return spec


@cache
def library() -> str:
    """Return the script that defines `vegaEmbed`, all of it: the page loads nothing.

    Of what the bundle offers it is the only way to Vega: `vega` itself comes out as null.
    """
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle


def panel() -> dict[str, Any]:
    """Return the panel in Vega-Lite: data sets `points` and `untuned`, limits and title by signal.

    A row of `points` has x, y, their bounds, and the columns of `look`.
    """
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": HEIGHT,
        "padding": {"left": 2, "right": 8, "top": 6, "bottom": 2},
        "background": None,
        "datasets": {"points": [], "untuned": []},
        "params": [
            {"name": "xTitle", "value": ""},
            *({"name": limit, "value": 0} for limit in ("xLow", "xHigh", "yLow", "yHigh")),
        ],
        # Labels lie below the points, which their halos would eat away.
        "layer": [*_untuned(), *_zero_lines(), _curves(), *_bars(), _labels(), _points()],
        "config": _config(),
    }


def _x(**place: Any) -> dict[str, Any]:
    return {
        **(place or {"field": "x"}),
        "type": "quantitative",
        "scale": {"domain": [{"expr": "xLow"}, {"expr": "xHigh"}], "zero": False, "nice": False},
        "axis": {"title": {"expr": "xTitle"}},
    }


def _y(**place: Any) -> dict[str, Any]:
    return {
        **(place or {"field": "y"}),
        "type": "quantitative",
        "scale": {"domain": [{"expr": "yLow"}, {"expr": "yHigh"}], "zero": False, "nice": False},
        "axis": {"title": "Relative test error (pp)"},
    }


def _colour() -> dict[str, Any]:
    return {"field": "colour", "type": "nominal", "scale": None}


def _untuned() -> list[dict[str, Any]]:
    """Return the control without tuning: its median, and the best to the worst draw as a band."""
    drawn = {"name": "untuned"}
    silent = {"clip": True, "aria": False}
    return [
        {
            "data": drawn,
            "mark": {"type": "rect", "color": "#000000", "opacity": 0.07, **silent},
            "encoding": {"y": _y(field="low"), "y2": {"field": "high"}},
        },
        {
            "name": "untuned",
            "data": drawn,
            "mark": {"type": "rule", "color": "#555555", "strokeDash": [5, 3], "clip": True},
            "encoding": {"y": _y(), "description": {"field": "label"}},
        },
    ]


def _zero_lines() -> list[dict[str, Any]]:
    mark = {"type": "rule", "color": "#666666", "strokeWidth": 0.8, "aria": False}
    return [
        {"data": {"values": [{}]}, "mark": mark, "encoding": {"x": _x(datum=1)}},
        {"data": {"values": [{}]}, "mark": mark, "encoding": {"y": _y(datum=0)}},
    ]


def _curves() -> dict[str, Any]:
    return {
        "data": {"name": "points"},
        "mark": {"type": "line", "strokeWidth": 0.8, "opacity": 0.5, "aria": False},
        "encoding": {
            "x": _x(),
            "y": _y(),
            "color": _colour(),
            "detail": {"field": "selector"},
            "order": {"field": "fraction"},
        },
    }


def _bars() -> list[dict[str, Any]]:
    mark = {"type": "rule", "strokeWidth": 1, "opacity": 0.8, "aria": False}
    across = {"x": _x(field="xFrom"), "x2": {"field": "xTo"}, "y": _y()}
    upright = {"y": _y(field="yFrom"), "y2": {"field": "yTo"}, "x": _x()}
    return [
        {"data": {"name": "points"}, "mark": mark, "encoding": {**where, "color": _colour()}}
        for where in (across, upright)
    ]


def _points() -> dict[str, Any]:
    return {
        "name": "points",
        "data": {"name": "points"},
        "mark": {
            "type": "point",
            "filled": True,
            "opacity": 1,
            "stroke": "white",
            "strokeWidth": 0.6,
        },
        "encoding": {
            "x": _x(),
            "y": _y(),
            "fill": _colour(),
            "shape": {"field": "shape", "type": "nominal", "scale": None},
            "size": {"field": "size", "type": "quantitative", "scale": None},
            "description": {"field": "label"},
        },
    }


def _labels() -> dict[str, Any]:
    return {
        "name": "labels",
        "data": {"name": "points"},
        "mark": {
            "type": "text",
            "fontSize": 10,
            "dx": {"expr": "datum.dx"},
            "dy": {"expr": "datum.dy"},
            "align": {"expr": "datum.align"},
            "aria": False,
        },
        "encoding": {
            "x": _x(),
            "y": _y(),
            "text": {"field": "text"},
            "color": _colour(),
        },
    }


def _config() -> dict[str, Any]:
    return {
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": {
            "grid": True,
            "gridColor": "#e6e6e6",
            "domainColor": "#999999",
            "tickColor": "#999999",
            "labelColor": "#333333",
            "titleColor": "#333333",
            "titleFontWeight": "normal",
            "labelFontSize": 11,
            "titleFontSize": 12,
        },
    }
