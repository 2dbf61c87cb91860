"""The trade-off of a data set as an interactive chart of one panel and ratio at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.markers import MarkerStyle

from automata import names
from automata.analysis.quantities import ERROR, QUANTITIES, TIMES

SCALE = alt.Scale(zero=False, nice=False, padding=15)
AREAS = (70, 300)
"""Areas of the smallest and the largest point in square pixels."""

AXES = (("x", "x"), ("y", ERROR))
"""The axes and their columns."""

WHOLE = "all data"
"""The subset of a control."""

ALL = "all sizes"


def chart(points: pd.DataFrame, untuned: pd.DataFrame, ratios: Sequence[str]) -> dict[str, Any]:
    """Return the Vega-Lite specification of the chart of one data set.

    A row of `points` has `panel`, `name`, `selector`, `subset`, `fraction`, the `ratios` and ERROR
    with `_low` and `_high`, and capitalised columns for the tooltip. A row of `untuned` has
    `panel`, `median`, `low`, `high` and `label`. `row` is the page's element with a mark's records.
    """
    titles = [QUANTITIES[ratio].title for ratio in ratios]
    panels = list(dict.fromkeys(points["panel"]))
    sizes = [ALL, *(size for size in _subsets(points) if size != WHOLE)]
    drawn: Any = (
        alt.layer(*_untuned(untuned), *_full(), *_points(points, ratios))
        .add_params(
            _radio("ratio", "Compare by", titles),
            _radio("panel", "Search, scheduler", panels),
            _radio("subset", "Subset", sizes),
        )
        .properties(width="container", height=400)
    )
    spec: dict[str, Any] = drawn.to_dict()
    return spec


def shape(marker: Any) -> str:
    """Return the SVG path of a matplotlib marker, in the square from -1 to 1."""
    style = MarkerStyle(marker)
    path = style.get_path().transformed(style.get_transform())
    scale = np.abs(path.vertices).max()
    commands = {1: "M", 2: "L", 3: "Q", 4: "C"}
    parts = []
    for ends, code in path.iter_segments():
        flipped = np.reshape(ends, (-1, 2)) * [1, -1] / scale  # y points down in SVG
        numbers = ",".join(f"{number:.3g}" for number in flipped.ravel())
        parts.append("Z" if code == 79 else commands[int(code)] + numbers)
    return "".join(parts)


def _radio(name: str, title: str, values: list[str]) -> alt.Parameter:
    """Return a parameter, with buttons if it has more than one value."""
    if len(values) < 2:
        return alt.param(name, value=values[0])
    buttons = alt.binding_radio(options=values, name=f"{title}: ")
    return alt.param(name, value=values[0], bind=buttons)


def _x(column: str, ratios: Sequence[str]) -> alt.X:
    title = f"FULL / method ({TIMES})" if len(ratios) > 1 else QUANTITIES[ratios[0]].label
    return alt.X(column, type="quantitative", title=title, scale=SCALE)


def _y(column: str) -> alt.Y:
    return alt.Y(column, type="quantitative", title=QUANTITIES[ERROR].label, scale=SCALE)


def _full() -> list[alt.Chart]:
    """Return the lines through FULL."""
    nothing = alt.Chart(alt.InlineData([{}])).mark_rule(color="#666", aria=False)
    return [
        nothing.encode(x=alt.X(datum=1, type="quantitative")),
        nothing.encode(y=alt.Y(datum=0, type="quantitative")),
    ]


def _untuned(rows: pd.DataFrame) -> list[alt.Chart]:
    """Return the median of untuned configurations, and a band from the best to the worst."""
    if rows.empty:
        return []
    of_panel = alt.Chart(rows).transform_filter("datum.panel == panel")
    median = of_panel.encode(y=_y("median"), tooltip="label")
    band = of_panel.mark_rect(color="#000", opacity=0.07, aria=False)
    text = median.mark_text(align="right", dy=-6, color="#555")
    return [
        band.encode(y=_y("low"), y2="high"),
        median.mark_rule(color="#555", strokeDash=[5, 3]),
        text.encode(x=alt.value("width"), text=alt.value("untuned (median)")).properties(
            name="untuned"
        ),
    ]


def _cut(axis: str, column: str) -> Iterator[tuple[str, str]]:
    """Yield the ends of the bars along an axis, cut where they would squeeze the points."""
    least, most = (f"datum.{end}_{axis}" for end in ("min", "max"))
    room = f"0.3 * ({most} - {least})"
    yield f"{axis}_from", f"max(datum.{column}_low, {least} - {room})"
    yield f"{axis}_to", f"min(datum.{column}_high, {most} + {room})"


def _points(rows: pd.DataFrame, ratios: Sequence[str]) -> list[alt.Chart]:
    """Return curves, bars and points of the chosen selectors for the chosen ratio."""
    chosen = {}
    for end in ("", "_low", "_high"):
        fields = ", ".join(f"'{QUANTITIES[name].title}': datum.{name}{end}" for name in ratios)
        chosen[f"x{end}"] = f"{{{fields}}}[ratio]"
    # Only one legend filters: with two, a click on one would repeat the last click on the other.
    selectors = alt.selection_point("selectors", fields=["selector"], bind="legend")
    looks = [names.look(name) for name in names.ordered(rows["name"], names.METHODS)]
    domain = [look.display for look in looks]
    colours = alt.Scale(domain=domain, range=[look.colour for look in looks])
    shapes = alt.Scale(domain=domain, range=[shape(look.marker) for look in looks])
    sizes = alt.Scale(domain=_subsets(rows), range=list(AREAS))
    base = (
        alt.Chart(rows)
        .transform_filter("datum.panel == panel")
        .transform_filter(
            f"subset == '{ALL}' || datum.subset == '{WHOLE}' || datum.subset == subset"
        )
        .transform_filter(selectors)
        .transform_calculate(**chosen)
        .transform_filter("isValid(datum.x)")
        .transform_joinaggregate(
            [
                alt.JoinAggregateFieldDef(op=end, field=of, **{"as": f"{end}_{axis}"})
                for end in ("min", "max")
                for axis, of in AXES
            ]
        )
        .transform_calculate(**{name: part for axis, of in AXES for name, part in _cut(axis, of)})
        .encode(
            x=_x("x", ratios),
            y=_y(ERROR),
            color=alt.Color("selector:N", title="Selector", scale=colours),
        )
    )
    pointed = alt.selection_point("pointed", on="pointerover", fields=["title"], empty=False)
    seen = alt.when(pointed).then(alt.value(1)).otherwise(alt.value(0.3))
    bar = base.mark_rule(aria=False).encode(strokeOpacity=seen)
    texts = [name for name in rows.columns if name[0].isupper() or name == "title"]
    legend = alt.Legend(orient="bottom")
    return [
        base.mark_line(strokeWidth=1, strokeOpacity=0.5, aria=False).encode(order="fraction:Q"),
        bar.encode(x=_x("x_from", ratios), x2="x_to"),
        bar.encode(y=_y("y_from"), y2="y_to"),
        base.mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.6)
        .encode(
            shape=alt.Shape("selector:N", title="Selector", scale=shapes),
            size=alt.Size("subset:O", title="Subset", scale=sizes, legend=legend),
            tooltip=[f"{name}:N" for name in texts],
        )
        .add_params(selectors, pointed)
        .properties(name="points"),
    ]


def _subsets(rows: pd.DataFrame) -> list[str]:
    return list(rows.sort_values("fraction")["subset"].unique())
