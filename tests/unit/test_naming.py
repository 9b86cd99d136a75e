"""No project can be called what a search takes for all projects."""

import pytest

from shared.domain import naming


def test_a_star_is_no_projects_name() -> None:
    with pytest.raises(ValueError, match="all projects"):
        naming.project("*")
    assert naming.project("**") == "**"
