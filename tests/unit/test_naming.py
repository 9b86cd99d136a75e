"""What names and moments may be."""

from datetime import datetime

import pytest

from shared.domain import naming
from shared.domain.times import rfc3339


def test_a_star_is_no_projects_name() -> None:
    with pytest.raises(ValueError, match="all projects"):
        naming.project("*")
    assert naming.project("**") == "**"


@pytest.mark.parametrize("text", ["", "n" * 129])
def test_a_name_has_bounds(text: str) -> None:
    with pytest.raises(ValueError, match="1 to 128"):
        naming.name(text)


@pytest.mark.parametrize("text", ["پروژه\u200cی من", "क्\u200dष", "क्\u200cष", "ශ්\u200dරී"])
def test_joiners_stand_in_names_where_writing_needs_them(text: str) -> None:
    assert naming.project(text) == text


@pytest.mark.parametrize(
    "text", ["a\u200cb", "a\u200db", "\u200cب", "ب\u200c", "ب\u200dب", "‌", "پ\u200b", "क\u200dष", "पa\u202e"]
)
def test_invisible_signs_stand_in_no_name_elsewhere(text: str) -> None:
    with pytest.raises(ValueError, match=r"Invisible|white space"):
        naming.name(text)


def test_a_moment_without_a_zone_is_not_written() -> None:
    with pytest.raises(ValueError, match="time zone"):
        rfc3339(datetime(2026, 3, 1))  # noqa: DTZ001 - the point
