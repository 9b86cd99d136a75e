"""Which language model the environment names, checked before anything starts: a half-named one would fail every conversation later."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from shared.adapters.endpoint import allowed

PROVIDERS = ("rules", "openai", "bedrock")
_RULES = frozenset({"", "rules"})
_URL_OF = {
    "openai": "set it to the endpoint's base address, such as http://127.0.0.1:11434/v1.",
    "bedrock": "this machine has no way to your AWS account; set it to an address that speaks Bedrock's Converse.",
}


def problem(environment: Mapping[str, str]) -> str | None:
    """Return one line that names the variable that is wrong and what to do; None when all is well. Quotes no address and no key."""
    provider, model_id, url = (environment.get(name, "") for name in ("MODEL_PROVIDER", "MODEL_ID", "MODEL_URL"))
    wrong = None
    if not provider and (model_id or url):
        named = "MODEL_ID" if model_id else "MODEL_URL"
        wrong = f"{named} is set, but MODEL_PROVIDER is not: set it to openai or bedrock, or to rules for no model."
    elif provider in _RULES:
        pass
    elif provider not in PROVIDERS:
        wrong = f"MODEL_PROVIDER is none of {', '.join(PROVIDERS)}: set it to one of them, or unset it for rules."
    elif not model_id:
        wrong = f"MODEL_ID is missing: set it to the name by which {provider} knows the model."
    elif not url:
        wrong = f"MODEL_URL is missing: {_URL_OF[provider]}"
    elif not may_be_asked(url):
        wrong = (
            "MODEL_URL is not allowed: use https://, or http:// on this machine, without a user, a query or a fragment."
        )
    return wrong


def may_be_asked(url: str) -> bool:
    """Tell whether functions would ask this address."""
    try:
        return allowed(urlsplit(url))
    except ValueError:
        return False


def described(environment: Mapping[str, str]) -> str:
    """Return who learns, in a few words; the environment has no problem."""
    provider = environment.get("MODEL_PROVIDER", "")
    if provider in _RULES:
        return "rules (offline)"
    return f"{provider} · {environment['MODEL_ID']} at {environment['MODEL_URL']}"
