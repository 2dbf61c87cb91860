"""Own data's defaults beside simple models, on real tables."""
