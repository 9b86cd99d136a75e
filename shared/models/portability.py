"""Exports and imports as they travel."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field

from shared.domain.errors import Invalid
from shared.keeping.exporting.pages import Exported, Wish
from shared.models.forms import Cursor, Given, Moment, Shown


def _yes_or_no(value: object) -> object:
    """Let a query's switch be true or false and nothing else."""
    if value not in {True, False, "true", "false"}:
        raise ValueError("Write true or false.")
    return value in {True, "true"}


Switch = Annotated[bool, BeforeValidator(_yes_or_no)]


class ExportQuery(Given):
    """What to export; the same on each page."""

    since: Moment | None = Field(default=None, alias="from", description="memories made then or later")
    until: Moment | None = Field(default=None, alias="to", description="memories made before")
    content: Switch = Field(default=True, description="false: no texts, only what surrounds them")
    history: Switch = Field(default=False, description="true: with the earlier versions of each memory")
    include_credentials: Switch = Field(
        default=False, description="true: secrets in plain; goes on your audit list before anything is answered"
    )
    cursor: Cursor | None = Field(
        default=None, description="the next_cursor of the page before; the rest must be the same"
    )

    def wish(self) -> Wish:
        """Return what is asked for. Raises Invalid for bounds that cannot be."""
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise Invalid.of("to", "It must be later than from.")
        return Wish(self.since, self.until, self.content, self.history, self.include_credentials)


class ExportOut(Shown):
    """One page: write `data` of all pages into one file, in their order, for an export that can be imported and checked."""

    format: Literal["nacre"] = "nacre"
    data: str = Field(description="JSON lines, each with its end; the last line of the last page is the manifest")
    lines: int = Field(description="in data")
    next_cursor: str | None = Field(description="null: this was the last page")

    @classmethod
    def of(cls, exported: Exported) -> Self:
        return cls(data=exported.data, lines=exported.lines, next_cursor=exported.next_cursor)
