"""A model of what CloudWatch does with a stack's recorded alarms: filters of events, Metrics Insights, metric math.

It knows the forms that the stacks use and fails on any other, so that an alarm in another form is not taken for silent.
Its rules are the user guide's ("Filter pattern syntax", "Metrics Insights query components", "Using metric math",
"How alarms evaluate missing data", read 2026-11).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

EVENT = "aws:cloudwatch/eventRule:EventRule"
FILTER = "aws:cloudwatch/logMetricFilter:LogMetricFilter"
ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
_QUERY = re.compile(
    r'SELECT (?P<function>AVG|MAX|MIN)\((?P<metric>\w+)\) FROM SCHEMA\("(?P<namespace>[^"]+)", (?P<by>\w+)\)'
    r" GROUP BY (?P=by) ORDER BY (?P=function)\(\) (ASC|DESC)"
)
_LOOK_BACK_MINUTES = 180
"""How far back an alarm on a query sees ("Metrics Insights quotas")."""
_FUNCTIONS = {"AVG": mean, "MAX": max, "MIN": min}
_COMPARED = {
    "LessThanThreshold": lambda value, threshold: value < threshold,
    "GreaterThanThreshold": lambda value, threshold: value > threshold,
}


@dataclass
class CloudWatch:
    """An account: events come in, figures of machines come in, and alarms are asked."""

    resources: Sequence
    counted: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)
    figures: dict[tuple[str, str, str], list[tuple[float, float]]] = field(default_factory=dict)

    def event(self, minute: float, detail: Mapping) -> None:
        """What SageMaker tells, through the rule that has a log group for a target."""
        event = {
            "source": "aws.sagemaker",
            "detail-type": "SageMaker Training Job State Change",
            "detail": dict(detail),
        }
        [rule] = [
            json.loads(each.inputs["eventPattern"])
            for each in self.resources
            if each.type == EVENT and each.name.endswith("-told")
        ]
        if not _matches(rule, event):
            return
        for each in self.resources:
            if each.type == FILTER and _passes(each.inputs["pattern"], event):
                made = each.inputs["metricTransformation"]
                value = _value(made["value"], event)
                self.counted.setdefault((made["namespace"], made["name"]), []).append((minute, value))

    def machine(self, host: str, minutes: range, gpu_percent: float) -> None:
        """A figure a minute of one machine of a job."""
        series = self.figures.setdefault(("/aws/sagemaker/TrainingJobs", "GPUUtilization", host), [])
        series += [(minute, gpu_percent) for minute in minutes]

    def alarmed(self, short: str, minute: int) -> bool:
        """Whether the alarm of that name is set off at that minute."""
        [alarm] = [each.inputs for each in self.resources if each.type == ALARM and each.name.endswith(f"-{short}")]
        assert alarm["treatMissingData"] == "notBreaching", "what is not measured sets off none"
        return any(
            all(value is not None and self._breaches(alarm, value) for value in series)
            for series in self._series(alarm, minute)
        )

    @staticmethod
    def _breaches(alarm: Mapping, value: float) -> bool:
        return _COMPARED[alarm["comparisonOperator"]](value, alarm["threshold"])

    def _series(self, alarm: Mapping, minute: int):
        """The figures of the evaluated periods, of each contributor; None where a period has none."""
        [told] = [each for each in alarm["metricQueries"] if each.get("returnData")]
        periods = int(alarm["evaluationPeriods"])
        assert alarm.get("datapointsToAlarm", periods) == periods
        query = _QUERY.fullmatch(told["expression"])
        if query:
            for (namespace, metric, _), series in self.figures.items():
                if (namespace, metric) == (query["namespace"], query["metric"]):
                    length = told["period"] / 60
                    yield [
                        _of(_FUNCTIONS[query["function"]], series, minute - length * (back + 1), minute - length * back)
                        if length * (back + 1) <= _LOOK_BACK_MINUTES
                        else None
                        for back in range(periods)
                    ]
            return
        assert periods == 1
        known = {}
        for each in alarm["metricQueries"]:
            if each is not told:
                stat, length = each["metric"]["stat"], each["metric"]["period"] / 60
                series = self.counted.get((each["metric"]["namespace"], each["metric"]["metricName"]), [])
                value = _of({"Average": mean, "SampleCount": len}[stat], series, minute - length, minute)
                known[each["id"]] = value
        yield [None if None in known.values() else _calculated(told["expression"], known)]


def _of(function, series, after: float, until: float):
    found = [value for at, value in series if after < at <= until]
    return function(found) if found else None


def _calculated(expression: str, known: Mapping[str, float]) -> float:
    chosen = re.fullmatch(r"IF\((?P<asked>[^,]+), (?P<then>[^,]+), (?P<otherwise>[^,]+)\)", expression)
    python = "({then}) if ({asked}) else ({otherwise})".format(**chosen.groupdict()) if chosen else expression
    return float(eval(python, {"__builtins__": {}}, dict(known)))


def _matches(pattern: Mapping, event: Mapping) -> bool:
    return all(
        _matches(wanted, event.get(key, {})) if isinstance(wanted, dict) else event.get(key) in wanted
        for key, wanted in pattern.items()
    )


def _value(said: str, event: Mapping) -> float:
    return float(said) if not said.startswith("$.") else float(_at(said, event))


def _at(path: str, event: Mapping):
    found = event
    for key in path.removeprefix("$.").split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _passes(pattern: str, event: Mapping) -> bool:
    inner = pattern.removeprefix("{").removesuffix("}").strip()
    terms = [term.strip().strip("()") for term in inner.split("&&")]
    found = [re.fullmatch(r'(?P<path>\$[\w.]+) = (?:"(?P<text>[^"]*)"|(?P<any>\*))', term.strip()) for term in terms]
    assert all(found), f"a pattern in a form that this model does not know: {pattern}"
    return all(
        _at(term["path"], event) is not None if term["any"] else _at(term["path"], event) == term["text"]
        for term in found
        if term
    )
