"""One owner's partition, page by page. Knows nothing of what the items mean.

The next page is read when somebody wants what is on it: who stops early reads no further, and who writes between two items has written
before the next page is read.
"""

from collections.abc import Iterator

from shared.ports import Item, Table


def pages(
    table: Table,
    owner: str,
    prefix: str,
    *,
    after: str | None = None,
    limit: int | None = None,
    descending: bool = False,
) -> Iterator[list[Item]]:
    """Yield the items whose sort key begins with the prefix, a page of the table at a time (≤ 1 MB, ≤ limit); a page may be empty."""
    while True:
        page = table.query(owner, prefix, after=after, limit=limit, descending=descending)
        yield page.items
        after = page.after
        if after is None:
            return


def each_item(
    table: Table,
    owner: str,
    prefix: str,
    *,
    after: str | None = None,
    limit: int | None = None,
    descending: bool = False,
) -> Iterator[Item]:
    """Yield the same items one by one; `limit` is of each page, not of all."""
    for page in pages(table, owner, prefix, after=after, limit=limit, descending=descending):
        yield from page


def latest_updates(table: Table, owner: str, status: str, *, limit: int) -> Iterator[list[str]]:
    """Yield pages of what `by_update` lists, newest first, until one holds fewer than `limit`."""
    before = None
    while True:
        page = table.by_update(owner, status, before=before, limit=limit)
        yield page
        if len(page) < limit:
            return
        before = page[-1]
