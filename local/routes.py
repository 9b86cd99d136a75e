"""Which route of an HTTP API a request takes: the most specific path that knows the method, `$default` last."""

from collections.abc import Sequence

from local.resources import Route

_EXACT, _PARAMETER, _GREEDY = 0, 1, 2


def _match(pattern: str, path: str) -> tuple[list[int], dict[str, str]] | None:
    """The pattern's rank, segment by segment, and its path parameters, or None."""
    rank: list[int] = []
    parameters: dict[str, str] = {}
    wanted, given = pattern.strip("/").split("/"), path[1:].split("/")
    for place, segment in enumerate(wanted):
        if segment.startswith("{") and segment.endswith("+}"):
            rest = "/".join(given[place:])
            if not rest:
                return None
            return [*rank, _GREEDY], {**parameters, segment[1:-2]: rest}
        if place >= len(given):
            return None
        if segment.startswith("{") and segment.endswith("}"):
            if not given[place]:
                return None
            rank.append(_PARAMETER)
            parameters[segment[1:-1]] = given[place]
        elif segment == given[place]:
            rank.append(_EXACT)
        else:
            return None
    return (rank, parameters) if len(wanted) == len(given) else None


def match(routes: Sequence[Route], method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The route for a decoded path and its path parameters; None when nothing matches."""
    best: tuple[list[int], Route, dict[str, str]] | None = None
    for route in routes:
        if route.method not in {method, "ANY"} or route.path == "$default":
            continue
        found = _match(route.path, path)
        if found is None:
            continue
        rank = [*found[0], route.method == "ANY"]
        if best is None or rank < best[0]:
            best = (rank, route, found[1])
    if best is not None:
        return best[1], best[2]
    fallback = next((route for route in routes if route.path == "$default"), None)
    return None if fallback is None else (fallback, {})
