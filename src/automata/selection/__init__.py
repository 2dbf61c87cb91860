"""Subset selection: the solvers (usable alone) and the selectors of the tuning loop."""

SELECTORS: dict[str, str] = {
    "full": "automata.selection.random:Full",
    "random": "automata.selection.random:FixedRandom",
    "adaptive-random": "automata.selection.random:AdaptiveRandom",
    "rs2": "automata.selection.random:RepeatedRandom",
    "craig": "automata.selection.craig:Craig",
    "gradmatch": "automata.selection.gradmatch:GradMatch",
    "gradmatch-adaptive": "automata.selection.adaptive:AdaptiveGradMatch",
    "glister": "automata.selection.glister:Glister",
}
"""Selector name -> "module:class", imported when a selector is built."""
