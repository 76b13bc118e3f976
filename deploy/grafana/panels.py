"""Shapes of panels: what Grafana wants to be told about each kind, in one place."""

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24

# What each state of a slot looks like, everywhere.
STATES = {
    "live": "green",
    "probation": "yellow",
    "evicted": "orange",
    "quarantined": "red",
    "draining": "blue",
    "drained": "purple",
    "empty": "text",
}


def graph(title, queries, unit="short", width=12, stack=False, about="", log=False):
    """Lines over time. `queries` is a list of (expression, legend)."""
    custom = {"fillOpacity": 20 if stack else 0, "showPoints": "never", "lineWidth": 1}
    if stack:
        custom["stacking"] = {"mode": "normal", "group": "A"}
    if log:
        custom["scaleDistribution"] = {"type": "log", "log": 10}
    panel = _panel("timeseries", title, queries, unit, width, 8, about)
    panel["fieldConfig"]["defaults"].update({"custom": custom, "min": None if log else 0})
    panel["options"] = {
        "legend": {"displayMode": "table", "placement": "bottom", "calcs": ["lastNotNull", "max"]},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return panel


def figure(title, expression, unit="short", steps=((None, "green"),), width=3, about="", decimals=None, unknown=None, nothing="no data"):
    """One figure, as it is now. `steps` are (from, colour), ascending; `unknown`: the colour of `nothing`, what is said where
    there is no value."""
    panel = _panel("stat", title, [(expression, "")], unit, width, 4, about)
    panel["targets"][0]["instant"] = True
    panel["fieldConfig"]["defaults"]["thresholds"] = {
        "mode": "absolute",
        "steps": [{"value": value, "color": colour} for value, colour in steps],
    }
    if decimals is not None:
        panel["fieldConfig"]["defaults"]["decimals"] = decimals
    if unknown:
        known = {"text": nothing, "color": unknown, "index": 0}
        panel["fieldConfig"]["defaults"]["mappings"] = [{"type": "special", "options": {"match": "null+nan", "result": known}}]
        panel["fieldConfig"]["defaults"]["noValue"] = nothing
    panel["options"] = {
        "colorMode": "background",
        "graphMode": "none",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
    }
    return panel


def states(title, width=24, about=""):
    """Which state each slot was in, as each server saw it: a bar a slot, a colour a state."""
    # One series a slot: the code of the state that is 1.
    expression = " or ".join(_coded(code, state) for code, state in enumerate(STATES))
    panel = _panel("state-timeline", title, [(expression, "slot {{slot}}, {{instance}}")], "short", width, 9, about)
    panel["fieldConfig"]["defaults"].update(
        {
            "custom": {"fillOpacity": 80, "lineWidth": 0},
            "mappings": [
                {
                    "type": "value",
                    "options": {
                        str(code): {"text": state, "color": colour, "index": code}
                        for code, (state, colour) in enumerate(STATES.items())
                    },
                }
            ],
        }
    )
    panel["options"] = {
        "mergeValues": True,
        "showValue": "never",
        "rowHeight": 0.8,
        "legend": {"displayMode": "list", "placement": "bottom"},
    }
    return panel


def table(title, expression, columns, width=12, about=""):
    """The labels of what a query finds, a row a series. `columns` are (label, heading)."""
    panel = _panel("table", title, [(expression, "")], "short", width, 8, about)
    panel["targets"][0].update({"instant": True, "format": "table"})
    wanted = [label for label, _ in columns]
    panel["transformations"] = [
        {"id": "filterFieldsByName", "options": {"include": {"names": wanted}}},
        {
            "id": "organize",
            "options": {"renameByName": dict(columns), "indexByName": {label: at for at, label in enumerate(wanted)}},
        },
    ]
    return panel


def _coded(code, state):
    chosen = f'sequent_slot_state{{cluster=~"$cluster", instance=~"$instance", state="{state}"}} == 1'
    return f"max by (slot, instance) (({chosen}) * {code})"


def _panel(kind, title, queries, unit, width, height, about):
    return {
        "type": kind,
        "title": title,
        "description": about,
        "datasource": SOURCE,
        "gridPos": {"w": width, "h": height},
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + at), "datasource": SOURCE, "expr": expression, "legendFormat": legend}
            for at, (expression, legend) in enumerate(queries)
        ],
    }
