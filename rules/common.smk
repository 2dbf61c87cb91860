"""The grid of runs and the helpers of the rules. Parsing needs Snakemake alone."""

import json
from itertools import product
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

ROOT = Path(str(workflow.current_basedir)).parent
SCHEMA = json.loads((ROOT / "config" / "schema.json").read_text())

# The path of a run, for its record, log, benchmark and unfinished work.
RUN = "{dataset}/{search}-{scheduler}/{selector}-{fraction}/seed-{seed}"

# More than any machine has: Snakemake gives what --cores says, so that no other job of its
# call runs beside a measured one. On a cluster, a profile sets the threads of `tune`.
WHOLE_MACHINE = 9999

# Reaches the jobs, Ray's workers in them and, as every cluster job parses this too, those.
os.environ.update(PYTHONPATH=str(ROOT / "src"))


def check_config():
    """End with one line, before any job, if the configuration breaks its schema."""
    errors = sorted(
        Draft202012Validator(SCHEMA).iter_errors(config), key=lambda e: e.path
    )
    if errors:
        sys.exit(describe(errors[0]))
    # The one rule of automata.config that JSON schema has no words for.
    for kind, protocol in config["protocol"].items():
        low, high = protocol["search_space"]["learning_rate"]["uniform"]
        if low >= high:
            path = ["protocol", kind, "search_space", "learning_rate", "uniform"]
            sys.exit(f"{origin(path)}: {'.'.join(path)}: {low} is not below {high}")


def describe(error):
    """Name file, key, value and valid values of a schema error, in one line."""
    path, value = list(error.absolute_path), error.instance
    if error.validator == "additionalProperties":
        known = error.schema["properties"]
        path, value = path + [next(key for key in value if key not in known)], None
        problem = f"unknown key; valid: {', '.join(known)}"
    elif error.validator == "required":
        missing = next(key for key in error.validator_value if key not in value)
        path, problem = path + [missing], "missing"
    else:
        problem = (
            f"{json.dumps(value)} is not valid; valid: {valid_values(error.schema)}"
        )
    key = ".".join(str(part) for part in path)
    return f"{origin(path)}: {key}: {problem}"


def valid_values(schema):
    """Say in words what `schema` allows."""
    if "enum" in schema:
        return ", ".join(str(value) for value in schema["enum"])
    if "maxItems" in schema:
        return f"a list of {schema['maxItems']} values"
    if schema.get("type") == "array":
        return "a list with at least one value" + ", none twice" * (
            "uniqueItems" in schema
        )
    bounds = {
        "exclusiveMinimum": ">",
        "minimum": ">=",
        "exclusiveMaximum": "<",
        "maximum": "<=",
    }
    limits = [f"{sign} {schema[key]}" for key, sign in bounds.items() if key in schema]
    kind = schema.get("type", "object").replace("object", "a section of keys")
    return f"{kind} {' and '.join(limits)}".strip()


def origin(path):
    """Return the configuration file that sets the key at `path`: the last that has it."""
    for name in reversed(
        [*workflow.configfiles, *workflow.config_settings.configfiles]
    ):
        values = yaml.safe_load(Path(str(name)).read_text())
        for part in path:
            if isinstance(values, dict) and part in values:
                values = values[part]
            elif not isinstance(values, list):
                break
        else:
            return os.path.relpath(str(name))
    return "configuration"


def one_of(values):
    """Return the wildcard constraint of a grid axis."""
    return "|".join(re.escape(value) for value in values)


def is_run(run):
    """Say whether a cell of the grid is run: FULL with fraction 1, others with those listed."""
    listed = ["1"] if run["selector"] == "full" else axis("fractions")
    return run["fraction"] in listed


def runs():
    """Yield the runs of the grid, as wildcards; values stay the strings of the paths."""
    for values in product(*AXES.values()):
        run = dict(zip(AXES, values))
        if is_run(run):
            yield run


def records(wildcards):
    """Return the records of all runs."""
    return [f"results/runs/{RUN}/record.json".format(**run) for run in runs()]


def settings(wildcards):
    """Return exactly the settings that a run reads, as JSON: a change of them repeats it."""
    return json.dumps(
        {
            "protocol": config["protocol"][SCHEMA["x-kinds"][wildcards.dataset]],
            "search": pick("search", wildcards.search),
            "scheduler": pick("scheduler", wildcards.scheduler),
            "selector": pick("selector", wildcards.selector),
            "compute": config["compute"],
            "metering": config["metering"],
        },
        sort_keys=True,
    )


def pick(section, name):
    """Return the part of a section that is about `name`; some names have no settings."""
    return {key: value for key, value in config[section].items() if key == name}


def axis(key):
    """Return the values of a grid axis as strings, which is what wildcards are; 1.0 is "1"."""
    return [str(value).removesuffix(".0") for value in config[key]]
