"""Figures from tables. The only place that draws."""

PAPER: dict[str, str] = {
    "performance-summary": "automata.figures.summary:performance_summary",
    "framework": "automata.figures.framework:framework",
    "main": "automata.figures.paper:main",
    "text": "automata.figures.paper:text",
    "image": "automata.figures.paper:image",
    "tabular": "automata.figures.paper:tabular",
    "energy-co2": "automata.figures.paper:energy_co2",
}
"""Figures of the paper: name -> "module:function", called with the tables of an experiment."""

STUDIES: dict[str, str] = {
    "ceiling": "automata.figures.ceiling:ceiling",
    "pareto": "automata.figures.pareto:pareto",
    "resampling": "automata.figures.resampling:resampling",
    "rank-agreement": "automata.figures.rank_agreement:rank_agreement",
}
"""What the paper does not show, in the same way."""

OF_DATASET: dict[str, str] = {
    "tradeoff": "automata.figures.dataset:tradeoff",
    "energy": "automata.figures.dataset:energy",
    "co2-measured": "automata.figures.dataset:co2_measured",
    "co2-time": "automata.figures.dataset:co2_time",
    "anytime": "automata.figures.anytime:anytime",
    "time-split": "automata.figures.time_split:time_split",
}
"""Figures of one data set: called with the tables and its name."""
