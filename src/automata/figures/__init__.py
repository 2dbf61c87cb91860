"""Figures from tables. The only place that draws."""
