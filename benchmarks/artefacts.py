"""What `sam build` made, looked at as Lambda would: does each handler import, how long does it take, how large is it.

Each function's layers are laid into one `/opt/python`-like folder and imported by a fresh process of an interpreter that
holds only boto3, as Lambda's does, without any cache of bytecode to write to. Nothing of the checkout is on its path.

    python -m benchmarks.artefacts            five imports per function, sizes
    python -m benchmarks.artefacts --once     one import each: the check after a build
"""

import argparse
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from samtranslator.yaml_helper import yaml_parse

LAYER_LIMIT = 262_144_000
"""Bytes a function and its layers may take unzipped, by Lambda's quota."""
TIMES = 6.0
"""How many times as long as the yardstick a handler may take to be imported."""
_YARDSTICK = "asyncio, decimal, email.message, http.client, json, logging.config, ssl, unittest.mock, xml.dom.minidom"
"""Modules of the standard library, imported first by the same process: a slow machine or hour slows both."""
_NATIVE = re.compile(r"\.cpython-\d+-(\w+)-linux-gnu\.so$")
_IMPORT = f"""
import importlib, sys, time
before = time.process_time()
import {_YARDSTICK}
yardstick = time.process_time() - before
task, opt, handler = sys.argv[1:]
sys.path[0:0] = [task, opt]
module, _, name = handler.rpartition(".")
start, busy = time.perf_counter(), time.process_time()
loaded = importlib.import_module(module)
print(time.perf_counter() - start, time.process_time() - busy, yardstick)
if not callable(getattr(loaded, name)):
    raise SystemExit(handler + " is not callable")
"""


class BrokenArtefact(Exception):
    """An artefact that Lambda could not run; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Artefact:
    """One built function: its own folder, its layers' folders in order, and `module.name` of its handler.

    Layers that only some deployments have hold no modules and are left out. `environment` holds the variables whose values stand in the
    template; an import must not need the others.
    """

    name: str
    handler: str
    task: Path
    layers: tuple[Path, ...]
    environment: Mapping[str, str]


def artefacts(built: Path) -> list[Artefact]:
    """Return the functions of a built template, in its order. Raises BrokenArtefact when there is none."""
    if not built.is_file():
        raise BrokenArtefact(f"{built} is missing: run `make build`")
    resources = yaml_parse(built.read_text())["Resources"]
    found = [
        Artefact(
            name=name,
            handler=resource["Properties"]["Handler"],
            task=built.parent / resource["Properties"]["CodeUri"],
            layers=tuple(
                built.parent / resources[layer["Ref"]]["Properties"]["ContentUri"]
                for layer in resource["Properties"]["Layers"]
                if "Ref" in layer
            ),
            environment=_literals(resource["Properties"].get("Environment", {}).get("Variables", {})),
        )
        for name, resource in resources.items()
        if resource["Type"] == "AWS::Serverless::Function"
    ]
    if not found:
        raise BrokenArtefact(f"{built} holds no function")
    return found


def _literals(variables: Mapping[str, object]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if isinstance(value, str)}


def lay(artefact: Artefact, folder: Path) -> Path:
    """Lay the layers' `python` folders over each other as links, as Lambda does in /opt; return that folder.

    Raises BrokenArtefact when two layers hold the same module: the later one would hide the earlier.
    """
    opt = folder / "opt" / "python"
    opt.mkdir(parents=True)
    for layer in artefact.layers:
        for entry in sorted((layer / "python").iterdir()):
            if entry.name == "requirements.txt":
                continue
            if (opt / entry.name).exists():
                raise BrokenArtefact(f"{artefact.name}: two layers hold {entry.name}")
            (opt / entry.name).symlink_to(entry.resolve())
    return opt


def import_seconds(artefact: Artefact, python: Path) -> tuple[float, float, float]:
    """Import the handler's module in a fresh process of that interpreter.

    Returns its seconds by the clock and by the processor, and the processor's seconds for the yardstick before it.

    Raises BrokenArtefact with the process's last line when it cannot be imported or is not callable.
    """
    with tempfile.TemporaryDirectory() as folder:
        opt = lay(artefact, Path(folder))
        ran = subprocess.run(  # noqa: S603 - our own interpreter and constant code
            [python, "-P", "-I", "-B", "-c", _IMPORT, artefact.task.resolve(), opt, artefact.handler],
            env={"AWS_DEFAULT_REGION": "us-east-1", **artefact.environment},
            capture_output=True,
            text=True,
            check=False,
        )
    if ran.returncode != 0:
        raise BrokenArtefact(f"{artefact.name}: {(ran.stderr.strip() or 'no message').splitlines()[-1]}")
    clock, processor, yardstick = ran.stdout.split()[-3:]
    return float(clock), float(processor), float(yardstick)


def size(folder: Path) -> int:
    """Return the bytes of the files below, unzipped."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def foreign(folders: Iterable[Path], machine: str, system: str) -> str | None:
    """Return the processor the compiled modules are for when this machine cannot load them; None when it can."""
    for folder in folders:
        for file in folder.rglob("*.so"):
            native = _NATIVE.search(file.name)
            if native and (native[1] != machine or system != "Linux"):
                return native[1]
    return None


def describe(artefact: Artefact, python: Path, runs: int) -> tuple[str, bool]:
    """Return the line of the table (seconds by the clock and the processor, times the yardstick, megabytes) and whether the budget holds.

    Medians of the runs; the ratio is taken within each run, since another hour has other seconds.
    """
    times = [import_seconds(artefact, python) for _ in range(runs)]
    clock, seconds, ratio = (
        statistics.median(column) for column in zip(*((c, p, p / y) for c, p, y in times), strict=True)
    )
    parts = {"code": size(artefact.task)} | {layer.name: size(layer) for layer in artefact.layers}
    total = sum(parts.values())
    if total > LAYER_LIMIT:
        raise BrokenArtefact(f"{artefact.name}: {total} bytes unzipped, Lambda takes {LAYER_LIMIT}")
    verdict = "within" if ratio <= TIMES else "OVER"
    listed = ", ".join(f"{name} {count / 1e6:.1f}" for name, count in parts.items())
    imported = f"{clock:>8.3f}{seconds:>10.3f}{ratio:>7.1f}  {verdict:<6} {TIMES:.0f}"
    return f"{artefact.name:<22}{imported}  {total / 1e6:>7.1f}  {listed}", ratio <= TIMES


def main(arguments: list[str]) -> int:
    """Print the table; 1 when an artefact is broken, or over its budget in the median of several runs."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.artefacts", description="Import and weigh what sam built."
    )
    parser.add_argument("--built", type=Path, default=Path(".aws-sam/build/template.yaml"))
    parser.add_argument(
        "--python", type=Path, default=Path(".venv/runtime/bin/python"), help="an interpreter with only boto3"
    )
    parser.add_argument("--once", action="store_true", help="import once each, no medians")
    options = parser.parse_args(arguments)
    try:
        found = artefacts(options.built)
        other = foreign({layer for one in found for layer in one.layers}, platform.machine(), platform.system())
        if other:
            print(f"Built for {other}: cannot be imported on this machine. `make build` builds for it.")
            return 0
        print(f"{'function':<22}{'import s':>8}{'processor':>10}{'times':>7}  budget    MB all  of which")
        within = True
        for artefact in found:
            line, held = describe(artefact, options.python, 1 if options.once else 5)
            print(line)
            within = within and held
    except BrokenArtefact as broken:
        print(broken, file=sys.stderr)
        return 1
    return 0 if within or options.once else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
