"""The commands that rules call: each public function is one, in the order of an experiment."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from automata.errors import UserError

if TYPE_CHECKING:
    from automata.curves.record import Curves

CACHE = Path(os.environ.get("AUTOMATA_DATA_CACHE", "results/downloads"))
MIRROR = os.environ.get("AUTOMATA_DATA_MIRROR") or None
AGAIN = os.environ.get("AUTOMATA_AGAIN", "")
RAY_ADDRESS = os.environ.get("AUTOMATA_RAY_ADDRESS", "")
MODEL_ROWS = os.environ.get("AUTOMATA_MODEL_ROWS", "train")

Carbon = Annotated[str, "What CO2 is computed from, in JSON."]
Compared = Annotated[str, "Which runs compare, in JSON."]
Defaults = Annotated[Path, "The default configuration, config/config.yaml."]
Files = Annotated[str, "SHA-256 of the user's own files that are read, by role, in JSON."]
Figures = Annotated[Sequence[str], "Names of the figures."]
FolderOfFigures = Annotated[Path, "Folder of the figures, PDF and PNG."]
ForReaders = Annotated[Path, "The same, Markdown for readers."]
Paper = Annotated[Path, "The paper's configuration."]
PerRun = Annotated[Path, "Table of one row per run, CSV."]
Processes = Annotated[int, "How many processes read the records."]
Records = Annotated[Sequence[Path], "Records, or folders of records."]
Runs = Annotated[Path, "Table of runs, Parquet."]
TableFolder = Annotated[Path, "Folder of the experiment's tables."]


def prepare(
    dataset: Annotated[str, "Name of the data set."],
    *,
    preparation: Annotated[str, "Settings of the data, in JSON."] = "{}",
    files: Files = "{}",
    mirror: Annotated[
        str | None, "Folder or base URL that is tried first (default: $AUTOMATA_DATA_MIRROR)."
    ] = MIRROR,
    output: Annotated[Path, "Prepared data set, safetensors."],
    encoding: Annotated[Path | None, "How its rows are encoded, JSON."] = None,
    cache: Annotated[Path, "Folder of downloads (default: $AUTOMATA_DATA_CACHE)."] = CACHE,
) -> None:
    """Prepare a data set."""
    from automata.config.job import parse_preparation
    from automata.datasets.prepare import prepare
    from automata.datasets.prepared import write_dataset
    from automata.files import write_text

    settings = parse_preparation(preparation)
    prepared = prepare(dataset, settings, cache, mirror, json.loads(files))
    write_dataset(prepared, output)
    if encoding is not None:
        write_text(encoding, json.dumps(prepared.encoding))


def tune(
    data: Annotated[
        Sequence[Path], "Prepared data set; for a model also how its rows are encoded, JSON."
    ],
    *,
    dataset: Annotated[str, "Its name."],
    search: Annotated[str, "Search algorithm."],
    scheduler: Annotated[str, "Scheduler of the trials."],
    selector: Annotated[str, "What selects the subsets."],
    fraction: Annotated[float, "Size of the subsets, as a share of the training set."],
    seed: Annotated[int, "Seed of the run."],
    settings: Annotated[str, "Settings of the run, in JSON."],
    files: Files = "{}",
    again: Annotated[
        str, "Finished records to repeat, one a line, or all (default: $AUTOMATA_AGAIN)."
    ] = AGAIN,
    ray_address: Annotated[str, "Ray for trials (default: $AUTOMATA_RAY_ADDRESS)."] = RAY_ADDRESS,
    work: Annotated[Path, "Folder of unfinished work."],
    output: Annotated[Sequence[Path], "Record, JSON; then the model, if it is to be kept."],
    model_rows: Annotated[
        str, "What a kept model is trained on (default: $AUTOMATA_MODEL_ROWS, else train)."
    ] = MODEL_ROWS,
    notices: Annotated[
        int | None, "File descriptor that tells, beside the log, what the job waits for."
    ] = None,
) -> None:
    """Run one tuning job."""
    from automata.config.job import parse_job
    from automata.tuning.job import Kept, complete_job

    if notices is not None:
        _tell_waits(notices)
    run: dict[str, Any] = {"dataset": dataset, "search": search, "scheduler": scheduler}
    run |= {"selector": selector, "fraction": fraction, "seed": seed}
    job = parse_job(run, settings, files)
    repeated = bool({"all", *map(str, output)} & set(again.splitlines()))
    prepared, record = data[0], output[0]
    kept = Kept(output[1], data[1], model_rows) if len(output) > 1 else None
    try:
        complete_job(job, prepared, work, record, ray_address or None, repeated, kept)
    except SystemExit as error:
        model = job.settings.protocol.model
        raise UserError(
            f"protocol.*.model.factory: {getattr(model, 'factory', model)}: ended the process "
            f"with SystemExit: {error}"
        ) from error


def record_curves(
    data: Annotated[Path, "Prepared data set."],
    *,
    job: Annotated[str, "What is trained, in JSON."],
    work: Annotated[Path, "Folder of unfinished work."],
    output: Annotated[Path, "Record, JSON."],
) -> None:
    """Record the learning curves of some configurations."""
    from automata.config.base import parsed
    from automata.curves.record import CurvesJob
    from automata.curves.train import record_curves

    read = parsed(lambda: CurvesJob.model_validate_json(job))
    record_curves(read, data, work, output)


def join_curves(
    records: Annotated[Sequence[Path], "Records of learning curves, or folders of them."] = (),
    *,
    published: Annotated[Sequence[Path], "Folders of published learning curves."] = (),
    trainings: Annotated[str, "Which of the published trainings are taken, in JSON."] = "[]",
    output: Annotated[Path, "A row per evaluation, Parquet."],
) -> None:
    """Make one table of learning curves."""
    import pandas as pd

    from automata.analysis.tables import write_parquet
    from automata.curves.published import ROW, published_curves, tabulated

    tables = [published_curves(folder, json.loads(trainings)) for folder in published]
    table = pd.concat([*tables, tabulated(_curves(records))]).drop_duplicates(ROW)
    if table.empty:
        raise UserError("learning_curves: there are none, and train is false")
    write_parquet(table, output)


def publish_curves(
    records: Annotated[Sequence[Path], "Records of learning curves, or folders of them."] = (),
    *,
    target: Annotated[Path, "Folder of published learning curves."],
) -> None:
    """Add learning curves to the published ones."""
    from automata.curves.published import publish_curves

    publish_curves(_curves(records), target)


def _curves(records: Sequence[Path]) -> Iterator[Curves]:
    """Yield records of learning curves."""
    from automata.curves.record import read_curves

    for path in records:
        yield from map(read_curves, [path] if path.is_file() else sorted(path.rglob("*.json")))


def simulate(
    curves: Annotated[Path, "Table of learning curves, Parquet."],
    *,
    searches: Annotated[str, "What is simulated of each data set, in JSON."],
    output: Annotated[Path, "Folder of tables."],
    real: Annotated[Sequence[Path], "Folders of tables of real runs."] = (),
    processes: Annotated[int, "How many processes simulate."] = 1,
) -> None:
    """Simulate searches on recorded learning curves."""
    import pandas as pd

    from automata.analysis.tables import read_csv, read_json, write_csv
    from automata.config.base import parsed
    from automata.config.sections import Simulated
    from automata.simulation import validation
    from automata.simulation.decision import decision
    from automata.simulation.study import studies
    from automata.simulation.table import complete, pools

    asked = {
        name: parsed(partial(Simulated.model_validate, it))
        for name, it in json.loads(searches).items()
    }
    recorded = complete(pd.read_parquet(curves), asked)
    found = studies(recorded, processes)
    held = [pd.DataFrame(columns=validation.HELD)]
    tables = {
        "simulated": found.methods,
        "contrasts": found.contrasts,
        "decision": decision(found.methods),
        "chosen": found.chosen,
        "pool": pools(recorded),
        "rank-correlation": validation.rank_correlation(recorded),
        "noise": validation.noise(recorded),
    }
    for folder in real:
        runs, protocols = read_csv(folder / "runs.csv"), read_json(folder / "protocols.json")
        held.append(validation.against_real(found.methods, asked, runs, protocols))
    tables["validation"] = pd.concat(held)
    for name, content in tables.items():
        write_csv(content, output / f"{name}.csv")


def plot_regret(
    table: Annotated[Path, "Table of simulated searches, CSV."],
    *,
    scheduler: Annotated[str, "Of which scheduler."],
    output: Annotated[Sequence[Path], "The figure, by suffix PDF or PNG."],
) -> None:
    """Draw what ways of tuning lose and save, by simulated searches."""
    import pandas as pd

    from automata.figures.regret import regret_figure
    from automata.figures.style import save

    save(regret_figure(pd.read_csv(table), scheduler), *output)


def _tell_waits(descriptor: int) -> None:
    """Have lines about waiting for others written to an open `descriptor`, too."""
    try:
        stream = os.fdopen(descriptor, "w", encoding="utf-8", closefd=False)
    except OSError as error:
        raise UserError(f"--notices: {descriptor}: {error.strerror}") from error
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s automata tune: %(message)s"))
    logging.getLogger("automata.locks").addHandler(handler)


def collect(
    records: Records,
    *,
    comparison: Compared = "{}",
    processes: Processes = 1,
    csv: PerRun,
    parquet: Annotated[Path, "The same, Parquet."],
    trials: Annotated[Path, "Table of one row per evaluation of a trial, Parquet."],
    protocols: Annotated[Path, "Settings of the runs, JSON."],
    provenance: Annotated[Path, "Table of what made each run, CSV."],
) -> None:
    """Make the table of runs from records."""
    from automata.analysis.collect import collect, record_files
    from automata.analysis.tables import write_csv, write_json, write_parquet
    from automata.config.sections import parse_comparison

    compared = parse_comparison(comparison)
    collected = collect(record_files(records), compared, processes)
    write_csv(collected.runs, csv)
    write_parquet(collected.runs, parquet)
    write_parquet(collected.trials, trials)
    write_json(collected.protocols, protocols)
    write_csv(collected.provenance, provenance)


def tradeoff(
    runs: Runs,
    *,
    carbon: Carbon,
    ratios: PerRun,
    csv: Annotated[Path, "Table of one row per combination, CSV."],
    markdown: ForReaders,
    untuned: Annotated[Path, "Table of the control without tuning, CSV."],
) -> None:
    """Compare the runs with FULL."""
    from automata.analysis.ratios import ratios_to_full
    from automata.analysis.tables import read_parquet, write_csv, write_markdown
    from automata.analysis.tradeoff import presented, tradeoff
    from automata.analysis.tradeoff import untuned as without_tuning
    from automata.config.sections import parse_carbon

    table = read_parquet(runs)
    compared = ratios_to_full(table, parse_carbon(carbon))
    summary = tradeoff(compared)
    write_csv(compared, ratios)
    write_csv(summary, csv)
    write_markdown(presented(summary), markdown)
    write_csv(without_tuning(table), untuned)


def energy(
    runs: Runs,
    *,
    carbon: Carbon,
    csv: PerRun,
    markdown: Annotated[Path, "The totals and what they rest on, Markdown for readers."],
) -> None:
    """Make the table of energy and CO2 from the runs."""
    from automata.analysis.energy import energy_table, totals
    from automata.analysis.tables import read_parquet, write_csv
    from automata.config.sections import parse_carbon
    from automata.files import write_text

    assumed = parse_carbon(carbon)
    table = energy_table(read_parquet(runs), assumed)
    write_csv(table, csv)
    write_text(markdown, totals(table, assumed))


def differences(
    tables: TableFolder,
    *,
    defaults: Defaults,
    paper: Paper,
    csv: Annotated[Path, "Table of one row per setting, CSV."],
) -> None:
    """Compare the protocol with the paper's."""
    from automata.analysis.differences import differences
    from automata.analysis.study import Study
    from automata.analysis.tables import write_csv
    from automata.config.files import read_experiments

    made = Study(tables)
    write_csv(differences(made.runs, made.protocols, read_experiments([defaults, paper])), csv)


def claims(
    tables: TableFolder,
    *,
    claims: Annotated[Path, "The claims, config/claims.yaml."],
    csv: Annotated[Path, "Table of one row per claim, CSV."],
    markdown: ForReaders,
) -> None:
    """Check the paper's claims against the tables."""
    from automata.analysis.claims import claims_table, parse_claims, summary
    from automata.analysis.study import Study
    from automata.analysis.tables import write_csv, write_markdown
    from automata.config.reading import read

    table = claims_table(parse_claims(read(claims), claims), Study(tables))
    write_csv(table, csv)
    write_markdown(table.drop(columns="records"), markdown, summary(table))


def best(runs: Runs, *, output: Annotated[Path, "The best hyper-parameters, YAML."]) -> None:
    """Say which hyper-parameters are the best of each data set, and how good they are."""
    from automata.analysis.best import HEADER, answer
    from automata.analysis.tables import read_parquet, write_yaml

    write_yaml(answer(read_parquet(runs)), output, HEADER)


def studies(tables: TableFolder, *, output: Annotated[Path, "Folder of the new tables."]) -> None:
    """Make the tables of what the paper does not show."""
    from automata.analysis.overview import overview
    from automata.analysis.study import Study
    from automata.analysis.tables import write_csv
    from automata.files import write_text
    from automata.views import studies

    study = Study(tables)
    for name, table in studies(study):
        write_csv(table, output / name)
    write_text(output / "overview.md", overview(study))


def provenance(
    table: Annotated[Path, "Table of what made each run, CSV."],
    *,
    markdown: Annotated[Path, "Table of one row per value, Markdown for readers."],
) -> None:
    """Sum up what made the runs."""
    from automata.analysis.provenance import closing, distinct
    from automata.analysis.tables import read_texts, write_markdown

    texts = read_texts(table)
    write_markdown(distinct(texts), markdown, closing(texts))


def plot(tables: TableFolder, *, figures: Figures, output: FolderOfFigures) -> None:
    """Draw figures of an experiment."""
    from automata.analysis.study import Study
    from automata.figures.files import write_figures

    write_figures(Study(tables), figures, output)


def plot_datasets(
    tables: TableFolder,
    *,
    datasets: Annotated[Sequence[str], "Names of the data sets."],
    figures: Figures,
    output: FolderOfFigures,
) -> None:
    """Draw figures of data sets."""
    from automata.analysis.study import Study
    from automata.figures.files import write_dataset_figures

    write_dataset_figures(Study(tables), datasets, figures, output)


def paper_figures(
    records: Records,
    *,
    comparison: Compared = "{}",
    processes: Processes = 1,
    carbon: Carbon,
    defaults: Defaults,
    paper: Paper,
    output: Annotated[Path, "Folder of the figures, PDF and PNG, and of their tables."],
) -> None:
    """Draw the paper's figures from records."""
    from automata.views import PAPER

    tables = output / "tables"
    collect(
        records,
        comparison=comparison,
        processes=processes,
        csv=tables / "runs.csv",
        parquet=tables / "runs.parquet",
        trials=tables / "trials.parquet",
        protocols=tables / "protocols.json",
        provenance=tables / "provenance.csv",
    )
    tradeoff(
        tables / "runs.parquet",
        carbon=carbon,
        ratios=tables / "ratios.csv",
        csv=tables / "tradeoff.csv",
        markdown=tables / "tradeoff.md",
        untuned=tables / "untuned.csv",
    )
    differences(tables, defaults=defaults, paper=paper, csv=tables / "differences.csv")
    plot(tables, figures=list(PAPER), output=output)
    framework = files("automata.figures").joinpath("framework.png")
    (output / "framework.png").write_bytes(framework.read_bytes())


def page(
    tables: TableFolder,
    *,
    figures: Annotated[Path, "Folder of the figures, PNG."],
    title: Annotated[str, "Name of the experiment."],
    output: Annotated[Path, "HTML file."],
) -> None:
    """Make the page that shows an experiment offline."""
    from automata.page.build import write_page

    write_page(tables, figures, title, output)


def pack(records: Records, *, output: Annotated[Path, "Archive, .tar.xz."]) -> None:
    """Put records into one file."""
    from automata.publication import pack

    pack(records, output)


def publish(
    files: Annotated[Sequence[Path], "Files that are copied."],
    *,
    source: Annotated[Path, "Folder of the experiment, which they lie in."],
    target: Annotated[Path, "Folder that they are copied to."],
) -> None:
    """Copy what was made of an experiment to where it is published."""
    from automata.publication import publish

    publish(source, files, target)
