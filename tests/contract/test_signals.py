"""What goes wrong is seen: each event that somebody must look at has a metric and an alarm, and nothing is shown that nothing tells."""

import json
import re
from pathlib import Path
from typing import Any

from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).parents[2]
RESOURCES: dict[str, Any] = yaml_parse((ROOT / "template.yaml").read_text(encoding="utf-8"))["Resources"]
FUNCTIONS = {"MemoriesLog", "RecallLog", "AdminLog", "ExtractionLog", "MaintenanceLog"}
IN_QUEUES = {"learn", "tidy"}
"""What deliver() calls its lines."""


def told(*words: str) -> set[str]:
    """Return the events that the code writes at these levels."""
    pattern = re.compile(rf'\b(?:{"|".join(words)})\(\s*"([a-z_]+)"')
    sources = [
        path.read_text(encoding="utf-8") for room in ("shared", "functions") for path in (ROOT / room).rglob("*.py")
    ]
    return {event for source in sources for event in pattern.findall(source)}


def filters() -> dict[str, tuple[str, str]]:
    """Return metric filters by name, as (event, metric)."""
    found = {}
    for name, resource in RESOURCES.items():
        if resource["Type"] == "AWS::Logs::MetricFilter":
            properties = resource["Properties"]
            (event,) = re.findall(r'\$\.event = "([a-z_]+)"', properties["FilterPattern"])
            found[name] = event, properties["MetricTransformations"][0]["MetricName"]
    return found


def alarmed() -> set[str]:
    """Return our own metrics that have an alarm."""
    found = set()
    for resource in RESOURCES.values():
        if resource["Type"] == "AWS::CloudWatch::Alarm":
            properties = resource["Properties"]
            told = [
                properties,
                *(m["MetricStat"]["Metric"] for m in properties.get("Metrics", []) if "MetricStat" in m),
            ]
            found |= {one["MetricName"] for one in told if isinstance(one.get("Namespace"), dict)}
    return found


def dashboard() -> dict[str, Any]:
    """Return the dashboard as CloudWatch gets it, with the names of what is filled in."""
    body, _ = RESOURCES["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    shown: dict[str, Any] = json.loads(re.sub(r"\$\{([A-Za-z:]+)\}", r"\1", body))
    return shown


def test_every_event_that_somebody_must_look_at_has_a_metric_with_an_alarm() -> None:
    watched = {event for event, metric in filters().values() if metric in alarmed()}
    assert told("alarm") - watched == set()


def test_no_metric_waits_for_an_event_that_nothing_tells() -> None:
    assert {event for event, _ in filters().values()} <= told("alarm", "warn", "note") | IN_QUEUES


def test_every_alarm_is_of_a_metric_that_something_makes() -> None:
    assert alarmed() <= {metric for _, metric in filters().values()}


def test_every_alarm_is_in_the_runbook_in_both_languages() -> None:
    alarms = {name for name, resource in RESOURCES.items() if resource["Type"] == "AWS::CloudWatch::Alarm"}
    for page in ("operations.md", "operations.zh.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert {name for name in alarms if f"`{name}`" not in text} == set(), page


def test_the_dashboard_shows_only_what_there_is() -> None:
    shown = [widget["properties"] for widget in dashboard()["widgets"]]
    own: set[str] = set()
    for properties in shown:
        namespace = ""
        for metric in properties.get("metrics", []):
            namespace = metric[0] if metric[0] not in {".", "..."} else namespace
            if namespace.startswith("Nacre/") and metric[0] != "..." and metric[1] != ".":
                own.add(metric[1])
    assert own == {metric for _, metric in filters().values()}
    queries = [properties["query"] for properties in shown if "query" in properties]
    assert len(queries) == 3
    assert {log for query in queries for log in re.findall(r"SOURCE '(\w+)'", query)} <= FUNCTIONS
    assert {event for query in queries for event in re.findall(r"event = '(\w+)'", query)} <= IN_QUEUES


def test_every_count_of_a_step_in_the_dashboard_is_one_that_a_step_gives() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "shared").rglob("*.py"))
    steps = set(re.findall(r'    name: str = "([a-z_]+)"', source))
    counts, times = [
        w["properties"]["query"] for w in dashboard()["widgets"] if "'tidy'" in w["properties"].get("query", "")
    ]
    assert set(re.findall(r"pct\(([a-z_]+)_ms, 95\)", times)) == steps
    named = set(re.findall(r"sum\(([a-z_]+)\)", counts)) - {"failed_steps"}
    for step, count in (name.rsplit("_", 1) for name in named):
        assert step in steps, step
        assert f'"{count}"' in source or f"{count}: int" in source, count
