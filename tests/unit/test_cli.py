import pytest

from automata.cli import main
from automata.datasets.catalog import DATASETS


def test_users_error_is_one_line_without_a_traceback(capsys, tmp_path):
    with pytest.raises(SystemExit) as end:
        main(["prepare", "mnist", "--output", str(tmp_path / "x.safetensors")])
    assert end.value.code == (
        f"automata prepare: error: dataset 'mnist' is not one of {', '.join(DATASETS)}"
    )


def test_nothing_is_written_on_an_error(tmp_path):
    with pytest.raises(SystemExit):
        main(["prepare", "mnist", "--output", str(tmp_path / "x.safetensors")])
    assert list(tmp_path.iterdir()) == []
