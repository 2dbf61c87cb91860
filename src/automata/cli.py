"""The command line: arguments to functions, and nothing else."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import NoReturn

from automata.errors import UserError
from automata.failures import explain, full_folder, is_known, out_of_space

CARBON_HELP = "what CO2 is computed from, in JSON"
RUNS = Path("results/runs")
FILES_HELP = "SHA-256 of the user's own files that are read, by role, in JSON"

# Commands import what they need when they run: `--help` must not wait for torch or Ray.


def main(arguments: list[str] | None = None) -> None:
    """Run one command; whatever ends it early is told in one line, the last, with exit status 1."""
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("automata").setLevel(logging.INFO)  # libraries: warnings only
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except (Exception, KeyboardInterrupt) as error:
        sys.exit(f"automata {options.name}: error: {_line(error, options)}")


def _line(error: BaseException, options: argparse.Namespace) -> str:
    """Return the line for `error`; of one that is not expected the traceback is printed."""
    if is_known(error):
        return explain(error)
    given = [value if isinstance(value, list) else [value] for value in vars(options).values()]
    paths = [path for values in given for path in values if isinstance(path, Path)]
    if isinstance(error, OSError) and _is_given(error.filename, paths, vars(options).get("work")):
        return f"{error.filename}: {error.strerror}"
    traceback.print_exc()
    full = full_folder([*paths, Path(tempfile.gettempdir())])
    return out_of_space(full) if full else explain(error)


def _is_given(name: object, paths: list[Path], work: Path | None) -> bool:
    """Say whether a file is one that the arguments name, or around it, or in a folder of theirs.

    What is missing in the folder of unfinished work, no user has given.
    """
    if not isinstance(name, str):
        return False
    around = any(path.is_relative_to(name) for path in paths)
    return around or any(Path(name).is_relative_to(path) for path in paths if path != work)


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with arguments: those of rules have no room for the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="automata", description=__doc__)
    commands = parser.add_subparsers(dest="name", required=True, metavar="COMMAND")

    prepare = commands.add_parser("prepare", help="prepare a data set")
    prepare.add_argument("dataset")
    prepare.add_argument("--preparation", default="{}", help="settings of the data, in JSON")
    prepare.add_argument("--files", default="{}", help=FILES_HELP)
    prepare.add_argument(
        "--mirror",
        default=os.environ.get("AUTOMATA_DATA_MIRROR") or None,
        help="folder or base URL that is tried first (default: $AUTOMATA_DATA_MIRROR)",
    )
    prepare.add_argument("--output", type=Path, required=True, help="safetensors file")
    prepare.set_defaults(command=_prepare)

    tune = commands.add_parser("tune", help="run one tuning job")
    tune.add_argument("data", type=Path, help="prepared data set")
    tune.add_argument("--dataset", required=True)
    tune.add_argument("--search", required=True)
    tune.add_argument("--scheduler", required=True)
    tune.add_argument("--selector", required=True)
    tune.add_argument("--fraction", required=True, type=float)
    tune.add_argument("--seed", required=True, type=int)
    tune.add_argument("--settings", required=True, help="settings of the run, in JSON")
    tune.add_argument("--files", default="{}", help=FILES_HELP)
    tune.add_argument(
        "--again",
        default=os.environ.get("AUTOMATA_AGAIN", ""),
        help="records of finished runs that are repeated, one a line, or all "
        "(default: $AUTOMATA_AGAIN)",
    )
    tune.add_argument(
        "--ray-address",
        default=os.environ.get("AUTOMATA_RAY_ADDRESS", ""),
        help="existing Ray cluster that trials run on (default: $AUTOMATA_RAY_ADDRESS)",
    )
    tune.add_argument("--work", type=Path, required=True, help="folder for unfinished work")
    tune.add_argument("--output", type=Path, required=True, help="record, in JSON")
    tune.add_argument(
        "--notices", type=int, help="file descriptor that tells, beside the log, what it waits for"
    )
    tune.set_defaults(command=_tune)

    collect = commands.add_parser("collect", help="make the table of runs from records")
    collect.add_argument("records", type=Path, nargs="+", help="files, or folders of records")
    collect.add_argument("--comparison", default="{}", help="which runs compare, in JSON")
    collect.add_argument(
        "--labels", default="{}", help="what tables call data sets, by record, in JSON"
    )
    collect.add_argument("--processes", type=int, default=1, help="that read them")
    collect.add_argument("--csv", type=Path, required=True, help="one row per run")
    collect.add_argument("--parquet", type=Path, required=True, help="the same")
    collect.add_argument("--trials", type=Path, required=True, help="their evaluations, Parquet")
    collect.add_argument("--protocols", type=Path, required=True, help="their settings, JSON")
    collect.add_argument("--provenance", type=Path, required=True, help="their origins, CSV")
    collect.set_defaults(command=_collect)

    pack = commands.add_parser("pack", help="put records into one file")
    pack.add_argument("records", type=Path, nargs="+", help="files")
    pack.add_argument("--output", type=Path, required=True, help="archive, .tar.xz")
    pack.set_defaults(command=_pack)

    unpack = commands.add_parser("unpack", help="take records out of such files")
    unpack.add_argument("archives", type=Path, nargs="+", help="archives, .tar.xz")
    unpack.add_argument("--output", type=Path, default=RUNS, help="folder (default: %(default)s)")
    unpack.add_argument("--as-named", action="store_true", help="paths as in the archive")
    unpack.set_defaults(command=_unpack)

    runs = commands.add_parser("runs", help="list the runs there are, by protocol")
    runs.add_argument(
        "folders",
        type=Path,
        nargs="*",
        help="of which runs are listed or removed (default: results/runs)",
    )
    runs.add_argument("--remove", action="store_true", help="delete them, after saying what")
    runs.add_argument("--yes", action="store_true", help="delete without asking")
    runs.add_argument(
        "--adopt",
        action="store_true",
        help="move records of earlier versions to where this one looks for them",
    )
    runs.set_defaults(command=_runs)

    for command in (prepare, unpack, runs):
        command.add_argument(
            "--cache",
            type=Path,
            default=Path(os.environ.get("AUTOMATA_DATA_CACHE", "results/downloads")),
            help="folder of downloaded files (default: $AUTOMATA_DATA_CACHE, else %(default)s)",
        )

    publish = commands.add_parser("publish", help="copy what was made of an experiment")
    publish.add_argument("files", type=Path, nargs="+", help="what is copied")
    publish.add_argument("--source", type=Path, required=True, help="the experiment's folder")
    publish.add_argument("--target", type=Path, required=True, help="folder it is copied to")
    publish.set_defaults(command=_publish)

    quote = commands.add_parser("quote", help="bring tables in a text up to date with results")
    quote.add_argument("files", type=Path, nargs="+", help="Markdown, rewritten in place")
    quote.add_argument("--tables", type=Path, required=True, help="folder of overview.md")
    quote.set_defaults(command=_quote)

    outdated = commands.add_parser(
        "outdated", help="print the records that other code than today's made"
    )
    outdated.add_argument("experiment", type=Path, help="its folder, results/{experiment}")
    outdated.set_defaults(command=_outdated)

    contaminated = commands.add_parser(
        "contaminated", help="print the records that were measured beside too much other work"
    )
    contaminated.add_argument("experiment", type=Path, help="its folder, results/{experiment}")
    contaminated.set_defaults(command=_contaminated)

    provenance = commands.add_parser("provenance", help="sum up the table of provenance")
    provenance.add_argument("table", type=Path, help="CSV of collect")
    provenance.add_argument("--markdown", type=Path, required=True, help="one row per value")
    provenance.set_defaults(command=_provenance)

    tradeoff = commands.add_parser("tradeoff", help="make the tradeoff tables from the runs")
    tradeoff.add_argument("runs", type=Path, help="table of runs, Parquet")
    tradeoff.add_argument("--carbon", required=True, help=CARBON_HELP)
    tradeoff.add_argument("--ratios", type=Path, required=True, help="one row per run, CSV")
    tradeoff.add_argument("--csv", type=Path, required=True, help="one row per combination")
    tradeoff.add_argument("--markdown", type=Path, required=True, help="the same, for readers")
    tradeoff.add_argument("--latex", type=Path, required=True, help="the same")
    tradeoff.add_argument("--untuned", type=Path, required=True, help="the control, CSV")
    tradeoff.set_defaults(command=_tradeoff)

    differences = commands.add_parser(
        "differences", help="make the table of differences from the paper's protocol"
    )
    differences.add_argument("tables", type=Path, help="folder with runs.parquet, protocols.json")
    differences.add_argument("--defaults", type=Path, required=True, help="config/config.yaml")
    differences.add_argument("--paper", type=Path, required=True, help="the paper's configuration")
    differences.add_argument("--schema", type=Path, required=True, help="of both, JSON")
    differences.add_argument("--csv", type=Path, required=True, help="one row per setting")
    differences.set_defaults(command=_differences)

    claims = commands.add_parser("claims", help="check the paper's claims against the tables")
    claims.add_argument("tables", type=Path, help="folder of the tables, differences.csv included")
    claims.add_argument("--claims", type=Path, required=True, help="config/claims.yaml")
    claims.add_argument("--csv", type=Path, required=True, help="one row per claim")
    claims.add_argument("--markdown", type=Path, required=True, help="the same, less the records")
    claims.add_argument("--html", type=Path, required=True, help="the same, for a report")
    claims.set_defaults(command=_claims)

    energy = commands.add_parser("energy", help="make the table of energy and CO2 from the runs")
    energy.add_argument("runs", type=Path, help="table of runs, Parquet")
    energy.add_argument("--carbon", required=True, help=CARBON_HELP)
    energy.add_argument("--csv", type=Path, required=True, help="one row per run")
    energy.add_argument("--markdown", type=Path, required=True, help="the same, and the totals")
    energy.set_defaults(command=_energy)

    plot = commands.add_parser("plot", help="draw figures of an experiment")
    plot.set_defaults(command=_plot)
    plot_datasets = commands.add_parser("plot-datasets", help="draw figures of data sets")
    plot_datasets.add_argument("--datasets", required=True, nargs="+", help="their names")
    plot_datasets.set_defaults(command=_plot_datasets)
    for command in (plot, plot_datasets):
        command.add_argument("tables", type=Path, help="folder of the experiment's tables")
        command.add_argument("--figures", required=True, nargs="+", help="their names")
        command.add_argument("--output", type=Path, required=True, help="folder of PDF and PNG")

    page = commands.add_parser("page", help="make a page that shows an experiment offline")
    page.add_argument("tables", type=Path, help="folder of the experiment's tables")
    page.add_argument("--figures", type=Path, required=True, help="folder of PNG files")
    page.add_argument("--title", required=True, help="name of the experiment")
    page.add_argument("--output", type=Path, required=True, help="HTML file")
    page.set_defaults(command=_page)

    studies = commands.add_parser("studies", help="make the tables that the paper does not have")
    studies.add_argument("tables", type=Path, help="folder of the tables of an experiment")
    studies.add_argument("--output", type=Path, required=True, help="folder of the new tables")
    studies.set_defaults(command=_studies)

    meter = commands.add_parser("meter", help="measure time and energy of any command")
    meter.add_argument("--shared", action="store_true", help="do not wait for measured jobs")
    meter.add_argument("arguments", nargs="+", metavar="COMMAND", help="after --")
    meter.set_defaults(command=_meter)

    schema = commands.add_parser("schema", help="write the JSON schema of the configuration")
    schema.add_argument("--output", type=Path, required=True)
    schema.set_defaults(command=_schema)
    return parser


def _prepare(options: argparse.Namespace) -> None:
    from automata.config import parse_preparation
    from automata.datasets.prepare import prepare
    from automata.datasets.prepared import write_dataset

    preparation = parse_preparation(options.preparation)
    files = json.loads(options.files)
    dataset = prepare(options.dataset, preparation, options.cache, options.mirror, files)
    write_dataset(dataset, options.output)


def _tune(options: argparse.Namespace) -> None:
    from automata.config import parse_job, parse_ray_address
    from automata.datasets.own.paths import problem_of_file
    from automata.tuning.job import complete_job

    if options.notices is not None:
        _tell_waits(options.notices)
    run = {axis: getattr(options, axis) for axis in _AXES}
    job = parse_job(run, options.settings, options.files)
    address = parse_ray_address(options.ray_address)
    again = bool({"all", str(options.output)} & set(options.again.splitlines()))
    problem = problem_of_file(str(options.data), "prepared")  # a pipe would be waited for
    if problem is not None:
        raise UserError(f"{problem}; delete it, and call again to prepare it anew")
    try:
        complete_job(job, options.data, options.work, options.output, address, again)
    except SystemExit as error:
        model = job.settings.protocol.model
        raise UserError(
            f"protocol.*.model.factory: {getattr(model, 'factory', model)}: ended the process "
            f"with SystemExit: {error}"
        ) from error


def _tell_waits(descriptor: int) -> None:
    """Have lines about waiting for others written to an open `descriptor`, too."""
    try:
        stream = os.fdopen(descriptor, "w", encoding="utf-8", closefd=False)
    except OSError as error:
        raise UserError(f"--notices: {descriptor}: {error.strerror}") from error
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s automata tune: %(message)s"))
    logging.getLogger("automata.locks").addHandler(handler)


_AXES = ("dataset", "search", "scheduler", "selector", "fraction", "seed")


def _collect(options: argparse.Namespace) -> None:
    from automata.analysis.collect import collect, record_files, warn_of_other_code
    from automata.analysis.tables import write_csv, write_json, write_parquet
    from automata.config import parse_comparison

    comparison = parse_comparison(options.comparison)
    labels = json.loads(options.labels)
    records = record_files(options.records)
    collected = collect(records, comparison, options.processes, labels)
    warn_of_other_code(collected.runs, options.parquet.parents[1])
    write_csv(collected.runs, options.csv)
    write_parquet(collected.runs, options.parquet)
    write_parquet(collected.trials, options.trials)
    write_json(collected.protocols, options.protocols)
    write_csv(collected.provenance, options.provenance)


def _pack(options: argparse.Namespace) -> None:
    from automata.publication import pack

    pack(options.records, options.output)


def _unpack(options: argparse.Namespace) -> None:
    from automata.inventory import Places
    from automata.publication import unpack

    place = None if options.as_named else Places(options.cache).of
    unpack(options.archives, options.output, place)


def _runs(options: argparse.Namespace) -> None:
    from automata.inventory import adopt, listing, panels, remove

    if options.adopt:
        moved, stay = adopt(RUNS, options.cache)
        _print(moved)
        if stay:
            names = ", ".join(map(str, stay))
            raise UserError(f"these stay, as there is another record in their place: {names}")
    elif options.remove:
        remove(RUNS, options.folders, confirmed=options.yes)
    else:
        sys.stdout.write(listing(panels(RUNS, options.folders)))


def _publish(options: argparse.Namespace) -> None:
    from automata.publication import publish

    publish(options.source, options.files, options.target)


def _quote(options: argparse.Namespace) -> None:
    from automata.analysis.quotes import quotable, quoted
    from automata.files import write_text

    known = quotable(options.tables)
    for path in options.files:
        try:
            text = quoted(path.read_text(encoding="utf-8"), known)
        except UserError as error:
            raise UserError(f"{path}: {error}") from error
        write_text(path, text)


def _outdated(options: argparse.Namespace) -> None:
    from automata.analysis.collect import outdated

    _print(outdated(options.experiment))


def _contaminated(options: argparse.Namespace) -> None:
    from automata.analysis.collect import contaminated

    _print(contaminated(options.experiment))


def _print(paths: list[Path]) -> None:
    for path in paths:
        sys.stdout.write(f"{path}\n")


def _provenance(options: argparse.Namespace) -> None:
    from automata.analysis.provenance import closing, distinct
    from automata.analysis.tables import read_texts, write_markdown

    table = read_texts(options.table)
    write_markdown(distinct(table), options.markdown, closing(table))


def _tradeoff(options: argparse.Namespace) -> None:
    from automata.analysis.ratios import ratios_to_full
    from automata.analysis.tables import read_parquet, write_csv, write_latex, write_markdown
    from automata.analysis.tradeoff import presented, tradeoff
    from automata.analysis.untuned import untuned
    from automata.config import parse_carbon

    runs = read_parquet(options.runs)
    ratios = ratios_to_full(runs, parse_carbon(options.carbon))
    summary = tradeoff(ratios)
    write_csv(ratios, options.ratios)
    write_csv(summary, options.csv)
    write_markdown(presented(summary), options.markdown)
    write_latex(presented(summary), options.latex)
    write_csv(untuned(runs), options.untuned)


def _differences(options: argparse.Namespace) -> None:
    from automata.analysis.differences import differences
    from automata.analysis.study import Study
    from automata.analysis.tables import write_csv
    from automata.experiments.files import ConfigFiles

    tables = Study(options.tables)
    paper = ConfigFiles([options.defaults, options.paper], {}, options.schema).experiments()
    write_csv(differences(tables.runs, tables.protocols, paper), options.csv)


def _claims(options: argparse.Namespace) -> None:
    from automata.analysis.claims import claims_table, read_claims, summary
    from automata.analysis.study import Study
    from automata.analysis.tables import write_csv, write_html, write_markdown

    table = claims_table(read_claims(options.claims), Study(options.tables))
    write_csv(table, options.csv)
    write_markdown(table.drop(columns="records"), options.markdown, summary(table))
    write_html(table.drop(columns="records"), options.html, summary(table))


def _energy(options: argparse.Namespace) -> None:
    from automata.analysis.energy import energy_table, readable, totals
    from automata.analysis.tables import read_parquet, write_csv, write_markdown
    from automata.config import parse_carbon

    carbon = parse_carbon(options.carbon)
    table = energy_table(read_parquet(options.runs), carbon)
    write_csv(table, options.csv)
    write_markdown(readable(table), options.markdown, totals(table, carbon))


def _plot(options: argparse.Namespace) -> None:
    from automata.analysis.study import Study
    from automata.figures.files import write_figures

    write_figures(Study(options.tables), options.figures, options.output)


def _plot_datasets(options: argparse.Namespace) -> None:
    from automata.analysis.study import Study
    from automata.figures.files import write_dataset_figures

    tables = Study(options.tables)
    write_dataset_figures(tables, options.datasets, options.figures, options.output)


def _page(options: argparse.Namespace) -> None:
    from automata.page.build import write_page

    write_page(options.tables, options.figures, options.title, options.output)


def _studies(options: argparse.Namespace) -> None:
    from automata.analysis.overview import overview
    from automata.analysis.studies import STUDIES
    from automata.analysis.study import Study
    from automata.analysis.tables import write_csv
    from automata.files import write_text

    tables = Study(options.tables)
    for name, study in STUDIES.items():
        write_csv(study(tables), options.output / f"{name}.csv")
    write_text(options.output / "overview.md", overview(tables))


def _meter(options: argparse.Namespace) -> None:
    from automata.metering.command import meter_command, report

    record = meter_command(options.arguments, exclusive=not options.shared)
    report(record)
    sys.exit(record.exit_status if record.exit_status >= 0 else 128 - record.exit_status)


def _schema(options: argparse.Namespace) -> None:
    from automata.config import write_schema

    write_schema(options.output)
