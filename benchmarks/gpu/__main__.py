"""`python -m benchmarks.gpu`: a table of ResNet18 on CIFAR-shaped images, on a GPU if there is one.

Arithmetic is as deterministic as in our jobs; float32 convolutions may use TF32, torch's default.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import torch

from automata.config.machine import Compute
from automata.provenance import cpu_model
from automata.training.device import choose_device, take_device
from benchmarks import workloads
from benchmarks.gpu.epochs import epoch_rows
from benchmarks.report import Row, write_table

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("torch", "numpy", "scipy")


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--images", type=int, default=45_000, help="training images")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[20, 128])
    parser.add_argument("--threads", type=int, default=1, help="of the CPU")
    parser.add_argument("--repeats", type=int, default=3, help="rounds that are timed")
    parser.add_argument("--compiled", action="store_true", help="also steps by torch.compile")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the table")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device = take_device(choose_device(Compute(device=options.device), "image"))
    quick = options.quick
    workload = workloads.images(40, 8) if quick else workloads.images(options.images)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else cpu_model()
    rows: list[Row] = []
    for batch_size in options.batch_sizes[:1] if quick else options.batch_sizes:
        rounds = 1 if quick else options.repeats
        measured = epoch_rows(workload, batch_size, device, rounds, options.compiled)
        rows += [{"device": name, **row} for row in measured]
        _write(rows, options, name)  # an hour's numbers outlive a stop


def _write(rows: list[Row], options: argparse.Namespace, device: str) -> None:
    file = "-".join(["resnet18", *re.findall(r"[a-z0-9]+", device.lower())])
    title = f"ResNet18, selection by gradmatch, on {device}"
    write_table(
        rows, options.results, file, title=title, threads=options.threads, packages=PACKAGES
    )


if __name__ == "__main__":
    main()
