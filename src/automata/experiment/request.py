"""What `automata.tune` requests: a child process prepares its data and plans its job."""

from __future__ import annotations

import json
from pathlib import Path

from automata.catalog import DATASETS
from automata.config.files import combine, read_experiments
from automata.config.protocol import OwnModel
from automata.datasets.own.guess import guess
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.errors import UserError
from automata.experiment.recommended import base_of, config_of, notes_of, recommended
from automata.experiment.sizes import SIZES
from automata.files import write_text
from automata.records.record import sealed
from automata.registry import OWN


def recommend(folder: Path) -> None:
    """Prepare the data of `request.json` for `automata.tune`, and write `plan.json` beside it."""
    request = json.loads((folder / "request.json").read_text())
    name, hours, base = request["name"], request["minutes"] / 60, {"datasets": [request["name"]]}
    notes: list[str] = []
    if path := request["path"]:
        guessed = guess(Path(path), request["target"], request["text"], request["own"])
        base, notes = base_of(name, guessed.own), [*guessed.left_out, *guessed.advice]
    kind = base["own_datasets"][name]["kind"] if path else DATASETS[name].kind
    changes = combine(request["settings"], {"protocol": {kind: request["protocol"]}})
    changes["datasets"] = [name]
    early, asked = changes, changes["protocol"][kind]
    if "model" not in asked:  # the plan decides it, and so which rates the space may have
        others = {key: value for key, value in asked.items() if key != "search_space"}
        early = changes | {"protocol": {kind: others}}
    (experiment,) = read_experiments([], config_of(base, early), "tune")
    model, downloads = experiment.protocol_of(name).model, experiment.data
    code = [target for key in OWN.values() for target in getattr(experiment, key).values()]
    for target in [*code, *([model.factory] if isinstance(model, OwnModel) else [])]:
        module, _, function = target.partition(":")
        if module == "__main__":
            problem = "is defined in your session, but the job has a process of its own"
            raise UserError(f"{target}: {problem}: write it to mine.py, and name mine:{function}")
    cache, mirror = Path(downloads.cache), downloads.mirror
    data = prepare(name, experiment.preparation(name), cache, mirror, {})
    write_dataset(data, folder / "data.safetensors")
    write_text(folder / "encoding.json", sealed(data.encoding))
    sizes = [*dict.fromkeys(size._replace(seeds=1) for size in SIZES)]
    plan = recommended(data, base, changes, hours, sizes)
    lines = [*notes, *notes_of(data), *plan.lines(hours)]
    found = {"config": config_of(base, plan.keys, changes), "lines": lines}
    write_text(folder / "plan.json", json.dumps(found))
