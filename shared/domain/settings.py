"""What an owner can choose."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Preferences:
    """An owner's settings; the defaults hold until the first change. `version` 0: never changed."""

    version: int = 0
    enabled: bool = True
    auto_capture: bool = False
    auto_retrieve: bool = True
    language: str | None = None
    credentials_in_context: bool = False
    custom_keywords: dict[str, list[str]] = field(default_factory=lambda: {"zh": [], "en": []})
    excluded_keywords: dict[str, list[str]] = field(default_factory=lambda: {"zh": [], "en": []})
    retention_days: int = -1
    max_results: int = 10
    search_days: int = -1
    schedule: str | None = None
    time_zone: str = "UTC"
