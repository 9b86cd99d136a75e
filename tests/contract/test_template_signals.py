"""What template.yaml tells its operator: logs, metrics, alarms, and a manual that knows them."""

import pytest

from tests.contract.template import FUNCTIONS, ROOT, listed, of_type, properties, statements, target, template


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_logs_json_into_its_own_group_and_nowhere_else(function: str) -> None:
    logging = properties(f"{function}Function")["LoggingConfig"]
    (own,) = (s for s in statements(function) if any(action.startswith("logs:") for action in listed(s["Action"])))

    assert logging["LogFormat"] == "JSON"
    assert target(logging["LogGroup"]) == target(own["Resource"]) == f"{function}Log"


def test_every_log_group_forgets() -> None:
    groups = of_type("AWS::Logs::LogGroup")

    assert set(groups) == {"AccessLog", *(f"{function}Log" for function in FUNCTIONS)}
    assert all(group["RetentionInDays"] == {"Ref": "LogRetentionDays"} for group in groups.values())


def test_every_alarm_stands_and_can_reach_a_person() -> None:
    alarms = of_type("AWS::CloudWatch::Alarm")
    watched = {
        (target(alarm["Dimensions"][0]["Value"]), alarm["MetricName"]): alarm["Threshold"]
        for alarm in alarms.values()
        if "Dimensions" in alarm  # those of our own metrics: test_signals.py
    }

    assert watched == {
        ("WorkDeadLetters", "ApproximateNumberOfMessagesVisible"): 0,
        ("MaintenanceDeadLetters", "ApproximateNumberOfMessagesVisible"): 0,
        ("WorkQueue", "ApproximateNumberOfMessagesVisible"): 10,
        ("WorkQueue", "ApproximateAgeOfOldestMessage"): 120,
        ("MaintenanceQueue", "ApproximateAgeOfOldestMessage"): 3600,
    } | {(f"{function}Function", "Errors"): 0 for function in FUNCTIONS}
    for alarm in alarms.values():
        assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
        assert alarm["TreatMissingData"] == "notBreaching"
        assert alarm["AlarmActions"] == {"Fn::If": ["MailsAlarms", [{"Ref": "AlarmTopic"}], {"Ref": "AWS::NoValue"}]}


def test_every_failed_task_counts_where_an_alarm_sees_it() -> None:
    alarm = properties("TasksFailedAlarm")
    found = of_type("AWS::Logs::MetricFilter")
    filters = {name: one for name, one in found.items() if "task_failed" in one["FilterPattern"]}

    assert {target(one["LogGroupName"]) for one in filters.values()} == {"ExtractionLog", "MaintenanceLog"}
    for one in filters.values():
        assert one["FilterPattern"] == '{ $.event = "task_failed" }'
        (counted,) = one["MetricTransformations"]
        assert (counted["MetricNamespace"], counted["MetricName"]) == (alarm["Namespace"], alarm["MetricName"])
        assert counted["MetricValue"] == "1"
    assert (alarm["Statistic"], alarm["Threshold"]) == ("Sum", 0)


def test_every_search_without_an_index_counts_under_its_reason_where_an_alarm_sees_it() -> None:
    counting, alarm = properties("IndexFallbacks"), properties("IndexFallbacksAlarm")
    (counted,) = counting["MetricTransformations"]
    watched = [one["MetricStat"]["Metric"] for one in alarm["Metrics"] if "MetricStat" in one]

    assert target(counting["LogGroupName"]) == "RecallLog"
    assert counting["FilterPattern"] == '{ $.event = "index_fallback" }'
    assert counted["Dimensions"] == [{"Key": "reason", "Value": "$.reason"}]
    assert [one["Dimensions"] for one in watched] == [
        [{"Name": "reason", "Value": reason}] for reason in ("missing", "corrupt")
    ]
    assert {one["MetricName"] for one in watched} == {counted["MetricName"]}


@pytest.mark.parametrize("reader", ["Recall", "Maintenance"])
def test_every_failed_embedding_counts(reader: str) -> None:
    counting = properties(f"{reader}EmbeddingFailures")
    (counted,) = counting["MetricTransformations"]

    assert target(counting["LogGroupName"]) == f"{reader}Log"
    assert counting["FilterPattern"] == '{ $.event = "embedding_failed" }'
    assert (counted["MetricName"], counted["MetricValue"]) == ("EmbeddingsFailed", "1")


@pytest.mark.parametrize("language", ["operations.md", "operations.zh.md"])
def test_the_manual_knows_every_parameter_alarm_and_output(language: str) -> None:
    manual = (ROOT / "docs" / language).read_text(encoding="utf-8")
    named = {*template()["Parameters"], *of_type("AWS::CloudWatch::Alarm"), *template()["Outputs"]}

    assert {name for name in named if f"`{name}`" not in manual} == set()
