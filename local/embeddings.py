"""Which embedding model the environment names, checked before anything starts: a half-named one would fail every search later."""

from collections.abc import Mapping
from pathlib import Path

from local.model import may_be_asked

PROVIDERS = ("local", "openai", "bedrock")
FILE = Path(__file__).resolve().parent.parent / "layers/embeddings/e5-small-q4.bin"
VARIABLES = (
    "EMBEDDING_PROVIDER",
    "EMBEDDING_MODEL",
    "EMBEDDING_LENGTH",
    "EMBEDDING_URL",
    "EMBEDDING_API_KEY",
    "EMBEDDING_MILLISECONDS",
)
_ONLY_WITH_A_PROVIDER = ("EMBEDDING_MODEL", "EMBEDDING_URL")
_URL_OF = {
    "openai": "set it to the endpoint's base address, such as http://127.0.0.1:11434/v1.",
    "bedrock": "this machine has no way to your AWS account; set it to an address that speaks Bedrock's InvokeModel.",
}


def chosen(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the caller has set; the local model's file is where `make embeddings` puts it unless one is named."""
    given = {name: environment[name] for name in VARIABLES if name in environment}
    if given.get("EMBEDDING_PROVIDER") == "local" and not given.get("EMBEDDING_MODEL"):
        given["EMBEDDING_MODEL"] = str(FILE)
    return given


def problem(environment: Mapping[str, str]) -> str | None:
    """Return one line that names the variable that is wrong and what to do; None when all is well. Quotes no address and no key."""
    given = chosen(environment)
    provider, model, url = (given.get(f"EMBEDDING_{name}", "") for name in ("PROVIDER", "MODEL", "URL"))
    wrong = _misnamed(environment)
    if wrong or not provider:
        pass
    elif provider not in PROVIDERS:
        wrong = f"EMBEDDING_PROVIDER is none of {', '.join(PROVIDERS)}: set it to one of them, or unset it for none."
    elif provider == "local":
        if not Path(model).is_file():
            wrong = "EMBEDDING_MODEL names no file: run `make embeddings`, which fetches the model to where it is looked for."
    elif not model:
        wrong = f"EMBEDDING_MODEL is missing: set it to the name by which {provider} knows the model."
    elif not url:
        wrong = f"EMBEDDING_URL is missing: {_URL_OF[provider]}"
    elif not may_be_asked(url):
        wrong = "EMBEDDING_URL is not allowed: use https://, or http:// on this machine, without a user, a query or a fragment."
    elif provider == "openai" and given.get("EMBEDDING_LENGTH", "0") in {"", "0"}:
        wrong = "EMBEDDING_LENGTH is missing: set it to how many numbers a vector of that model has."
    return wrong


def _misnamed(environment: Mapping[str, str]) -> str | None:
    """Name what is set and would do nothing: there is no such setting, or no provider."""
    named = sorted(name for name, value in environment.items() if name.startswith("EMBEDDING_") and value)
    for name in named:
        if name not in VARIABLES:
            return f"{name} is no setting: there are {', '.join(VARIABLES)}."
        if name in _ONLY_WITH_A_PROVIDER and "EMBEDDING_PROVIDER" not in named:
            return f"{name} is set, but EMBEDDING_PROVIDER is not: set it to one of {', '.join(PROVIDERS)}."
    return None


def described(environment: Mapping[str, str]) -> str:
    """Return who compares meanings, in a few words; the environment has no problem."""
    provider = environment.get("EMBEDDING_PROVIDER", "")
    if not provider:
        return "words"
    if provider == "local":
        return "words and meaning (multilingual-e5-small in this process)"
    return f"words and meaning ({provider} · {environment['EMBEDDING_MODEL']} at {environment['EMBEDDING_URL']})"
