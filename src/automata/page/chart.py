"""The trade-off of a data set as a chart, which shows one panel and filters by its legend."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import altair as alt
import pandas as pd
import vl_convert

from automata import names
from automata.analysis.quantities import QUANTITIES

HEIGHT = 400
COLUMN = 150
"""Width of a column of the legend, in pixels."""
AREAS = (70, 300)
"""Areas of the smallest and the largest point, in square pixels."""

MARKS: dict[Any, str] = {
    "*": "M0,-1L.235,-.324L.951,-.309L.38,.124L.588,.809L0,.4L-.588,.809L-.38,.124"
    "L-.951,-.309L-.235,-.324Z",
    (5, 1, 36.0): "M0,1L.235,.324L.951,.309L.38,-.124L.588,-.809L0,-.4L-.588,-.809L-.38,-.124"
    "L-.951,.309L-.235,.324Z",
    "s": "square",
    "D": "diamond",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    ">": "triangle-right",
    "o": "circle",
    "p": "M0,-1L.951,-.309L.588,.809L-.588,.809L-.951,-.309Z",
    "h": "M0,-1L.866,-.5L.866,.5L0,1L-.866,.5L-.866,-.5Z",
    "P": "cross",
    "X": "M-.9,-.43L-.43,-.9L0,-.47L.43,-.9L.9,-.43L.47,0L.9,.43L.43,.9L0,.47L-.43,.9L-.9,.43"
    "L-.47,0Z",
}
"""Matplotlib's marker -> Vega's shape, or a path in the square from -1 to 1; others are circles."""

ACROSS = {"speedup": "speedup", "energy_ratio": "energy ratio"}
"""Quantities for the x axis; the CO2 ratios equal these two."""

LABELS = json.dumps({name: QUANTITIES[name].label for name in ACROSS})
AXIS = {"title": {"expr": f"{LABELS}[across]"}}
"""The x axis. Its title follows a parameter: Vega-Lite allows it, Altair's schema does not."""

WHOLE = "all data"
"""The subset of a control."""

ALL = "all sizes"

UP = "relative_test_error"


def chart(points: pd.DataFrame, untuned: pd.DataFrame) -> dict[str, Any]:
    """Return the chart of one data set.

    A row of `points` has its `panel`, `selector`, `subset`, `fraction`, the columns of ACROSS and
    UP with `_low` and `_high`, and any others, which its tooltip shows. A row of `untuned` has
    `panel`, `median`, `low`, `high` and a `label`.
    """
    panels = list(dict.fromkeys(points["panel"]))
    across = [name for name in ACROSS if points[name].notna().any()]
    panel = _radio("panel", "Search, scheduler", panels, panels)
    sizes = [ALL, *(size for size in _subsets(points) if size != WHOLE)]
    subset = _radio("subset", "Subset", sizes, sizes)
    quantity = _radio("across", "Across", across, [ACROSS[name] for name in across])
    drawn: alt.LayerChart = (
        alt.layer(*_untuned(untuned), *_full(), *_points(points))
        .add_params(panel, subset, quantity)
        .properties(width="container", height=HEIGHT)
        .configure(background="transparent", font="system-ui, sans-serif", padding=4)
        .configure_view(stroke=None)
        .configure_axis(
            gridColor="#e6e6e6",
            domainColor="#999",
            tickColor="#999",
            tickCount=8,
            titleFontWeight="normal",
        )
        .configure_legend(
            orient="top",
            direction="horizontal",
            columns=alt.ExprRef(f"max(1, floor(width / {COLUMN}))"),
            symbolLimit=0,
            labelLimit=0,
            titleFontWeight="normal",
        )
    )
    spec: dict[str, Any] = drawn.to_dict()
    for layer in spec["layer"]:
        if "type" in layer["encoding"].get("x", {}):
            layer["encoding"]["x"]["axis"] = AXIS
    return spec


@cache
def library() -> str:
    """Return the whole script that defines `vegaEmbed`, because the page loads nothing."""
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle


def _radio(name: str, title: str, values: list[str], labels: list[str]) -> alt.Parameter:
    """Return a parameter, with buttons if it has more than one value."""
    if len(values) < 2:
        return alt.param(name, value=values[0])
    buttons = alt.binding_radio(options=values, labels=labels, name=f"{title}: ")
    return alt.param(name, value=values[0], bind=buttons)


def _x(column: str) -> alt.X:
    return alt.X(column, type="quantitative", scale=_scale())


def _y(column: str) -> alt.Y:
    return alt.Y(column, type="quantitative", title=QUANTITIES[UP].label, scale=_scale())


def _scale() -> alt.Scale:
    return alt.Scale(zero=False, nice=False, padding=15)


def _full() -> list[alt.Chart]:
    """Return the lines through FULL."""
    nothing = alt.Chart(alt.InlineData([{}])).mark_rule(color="#666", aria=False)
    return [
        nothing.encode(x=alt.X(datum=1, type="quantitative")),
        nothing.encode(y=alt.Y(datum=0, type="quantitative")),
    ]


def _untuned(rows: pd.DataFrame) -> list[alt.Chart]:
    """Return the median of the control without tuning, and a band from its best to worst draw."""
    if rows.empty:
        return []
    of_panel = alt.Chart(rows).transform_filter("datum.panel == panel")
    median = of_panel.encode(y=_y("median"))
    band = of_panel.mark_rect(color="#000", opacity=0.07, aria=False)
    return [
        band.encode(y=_y("low"), y2="high"),
        median.mark_rule(color="#555", strokeDash=[5, 3]).encode(tooltip="label"),
        median.mark_text(align="right", dy=-6, color="#555").encode(
            x=alt.value("width"), text=alt.value("untuned")
        ),
    ]


def _points(rows: pd.DataFrame) -> list[alt.Chart]:
    """Return curves, bars of spreads and points of the chosen selectors."""
    # Only one legend filters: a click on one of two would repeat the last click on the other.
    selectors = alt.selection_point("selectors", fields=["selector"], bind="legend")
    ends = {end: f"datum[across + '{end}']" for end in ("", "_low", "_high")}
    base = (
        alt.Chart(rows)
        .transform_filter("datum.panel == panel && isValid(datum[across])")
        .transform_filter(
            f"subset == '{ALL}' || datum.subset == '{WHOLE}' || datum.subset == subset"
        )
        .transform_filter(selectors)
        .transform_calculate(**{f"x{end}": formula for end, formula in ends.items()})
        .encode(x=_x("x"), y=_y(UP), color=_colour(rows))
    )
    pointed = alt.selection_point("pointed", on="pointerover", fields=["title"], empty=False)
    seen = alt.when(pointed).then(alt.value(1)).otherwise(alt.value(0.3))
    bar = base.mark_rule(aria=False).encode(strokeOpacity=seen)
    shown = [name for name in rows.columns if name[0].isupper() or name == "title"]
    return [
        base.mark_line(strokeWidth=1, strokeOpacity=0.5, aria=False).encode(order="fraction:Q"),
        bar.encode(x=_x("x_low"), x2="x_high"),
        bar.encode(y=_y(f"{UP}_low"), y2=f"{UP}_high"),
        base.mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.6)
        .encode(shape=_shape(rows), size=_size(rows), tooltip=[f"{name}:N" for name in shown])
        .add_params(selectors, pointed)
        .properties(name="points"),
    ]


def _looks(rows: pd.DataFrame) -> list[names.Method]:
    """Return the selectors that have points, in the order of legends."""
    known = {method.display: name for name, method in names.METHODS.items()}
    # A user's own selector is displayed by its name.
    return [names.look(known.get(it, it)) for it in names.ordered(rows["selector"], known)]


def _colour(rows: pd.DataFrame) -> alt.Color:
    looks = _looks(rows)
    scale = alt.Scale(domain=[x.display for x in looks], range=[x.colour for x in looks])
    return alt.Color("selector:N", title="Selector", scale=scale)


def _shape(rows: pd.DataFrame) -> alt.Shape:
    looks = _looks(rows)
    scale = alt.Scale(
        domain=[x.display for x in looks], range=[MARKS.get(x.marker, MARKS["o"]) for x in looks]
    )
    return alt.Shape("selector:N", title="Selector", scale=scale)


def _subsets(rows: pd.DataFrame) -> list[str]:
    return list(rows.sort_values("fraction")["subset"].unique())


def _size(rows: pd.DataFrame) -> alt.Size:
    scale = alt.Scale(domain=_subsets(rows), range=list(AREAS))
    return alt.Size("subset:O", title="Subset", scale=scale, legend=alt.Legend(orient="bottom"))
