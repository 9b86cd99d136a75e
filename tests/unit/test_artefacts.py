"""The look at built artefacts, on small ones made here; and the two Makefiles that `sam build` runs."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.artefacts import Artefact, BrokenArtefact, artefacts, foreign, import_seconds, lay, main, size

ROOT = Path(__file__).parents[2]
PYTHON = Path(sys.executable)
TEMPLATE = """
Resources:
  Table: { Type: AWS::DynamoDB::Table }
  Words: { Type: AWS::Serverless::LayerVersion, Properties: { ContentUri: Words } }
  RecallFunction:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: RecallFunction
      Handler: functions.recall.app.handler
      Layers: [!Ref Words]
      Environment: { Variables: { THREADS: "1", TABLE: !Ref Table } }
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A built template with one function, its layer, and a handler that needs both."""
    write(tmp_path / "Words/python/nacre_words/__init__.py", "GREETING = 'hello'\n")
    write(tmp_path / "Words/python/requirements.txt", "")
    write(
        tmp_path / "RecallFunction/functions/recall/app.py",
        "from nacre_words import GREETING\ndef handler(event, context):\n    return GREETING\n",
    )
    return write(tmp_path / "template.yaml", TEMPLATE)


def test_a_built_function_is_found_with_its_layers(built: Path) -> None:
    (found,) = artefacts(built)

    assert (found.name, found.handler) == ("RecallFunction", "functions.recall.app.handler")
    assert found.layers == (built.parent / "Words",)


def test_a_handler_is_imported_from_its_folder_and_its_layers_alone(built: Path) -> None:
    (found,) = artefacts(built)

    clock, processor, yardstick = import_seconds(found, PYTHON)

    assert 0 < clock < 30
    assert 0 <= processor < 30
    assert 0 < yardstick < 30


def test_an_import_sees_the_values_of_the_template_and_no_others(built: Path) -> None:
    source = "import os\nseen = os.environ['THREADS'], os.environ.get('TABLE')\nassert seen == ('1', None)\n"
    write(built.parent / "RecallFunction/functions/recall/app.py", f"{source}def handler(event, context): ...\n")
    (found,) = artefacts(built)

    assert import_seconds(found, PYTHON)


def test_nothing_of_the_checkout_is_on_the_path(built: Path) -> None:
    write(built.parent / "RecallFunction/functions/recall/app.py", "import benchmarks.artefacts\n")
    (found,) = artefacts(built)

    with pytest.raises(BrokenArtefact, match="ModuleNotFoundError"):
        import_seconds(found, PYTHON)


def test_a_handler_that_is_not_callable_breaks_the_artefact(built: Path) -> None:
    write(built.parent / "RecallFunction/functions/recall/app.py", "handler = None\n")
    (found,) = artefacts(built)

    with pytest.raises(BrokenArtefact, match="not callable"):
        import_seconds(found, PYTHON)


def test_two_layers_may_not_hide_each_others_modules(tmp_path: Path) -> None:
    layers = tuple(write(tmp_path / name / "python/six.py", "").parents[1] for name in ("One", "Two"))
    artefact = Artefact("RecallFunction", "app.handler", tmp_path, layers, {})

    with pytest.raises(BrokenArtefact, match=r"two layers hold six\.py"):
        lay(artefact, tmp_path / "laid")


def test_a_missing_build_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--built", str(tmp_path / "template.yaml")]) == 1
    assert "make build" in capsys.readouterr().err


def test_the_table_names_each_function_with_time_and_size(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--built", str(built), "--python", str(PYTHON), "--once"]) == 0
    assert "RecallFunction" in capsys.readouterr().out


def test_binaries_for_another_processor_are_recognised(tmp_path: Path) -> None:
    write(tmp_path / "python/numpy/core.cpython-311-aarch64-linux-gnu.so", "")

    assert foreign([tmp_path], "x86_64", "Linux") == "aarch64"
    assert foreign([tmp_path], "aarch64", "Darwin") == "aarch64"
    assert foreign([tmp_path], "aarch64", "Linux") is None


def test_a_folder_weighs_what_its_files_weigh(tmp_path: Path) -> None:
    write(tmp_path / "a/b.txt", "12345")
    write(tmp_path / "c.txt", "678")

    assert size(tmp_path) == 8


def run_make(folder: Path, target: str, into: Path) -> None:
    into.mkdir()
    command = ["make", "-C", str(folder), target, f"ARTIFACTS_DIR={into}"]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own Makefiles


def files(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def test_a_functions_artefact_holds_its_own_folder_at_its_own_path(tmp_path: Path) -> None:
    source = tmp_path / "functions"
    write(source / "recall/app.py", "")
    write(source / "recall/__pycache__/app.pyc", "")
    write(source / "memories/app.py", "")
    shutil.copy(ROOT / "functions/Makefile", source)

    run_make(source, "build-RecallFunction", tmp_path / "built")

    assert files(tmp_path / "built") == {"functions/recall/app.py"}


def test_the_shared_layer_holds_our_code_under_python_shared(tmp_path: Path) -> None:
    source = tmp_path / "shared"
    write(source / "domain/limits.py", "")
    write(source / "domain/__pycache__/limits.pyc", "")
    shutil.copy(ROOT / "shared/Makefile", source)

    run_make(source, "build-SharedLayer", tmp_path / "built")

    assert files(tmp_path / "built") == {"python/shared/domain/limits.py"}
