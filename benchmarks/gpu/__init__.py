"""ResNet18 on a GPU: epochs and selections, accelerated against plain.

Imports nothing but torch, numpy, scipy, pydantic, PyYAML, safetensors and what of ours needs no
more, so that it runs where only these are installed.
"""
