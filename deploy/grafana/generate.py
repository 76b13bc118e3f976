#!/usr/bin/env python3
"""Writes what is generated under deploy/: Grafana's dashboards, and the rules' copies in the Helm chart.

    python3 deploy/grafana/generate.py            writes the files
    python3 deploy/grafana/generate.py --check    writes nothing; names those that differ, and exits with 1
"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import dashboards  # noqa: E402
from panels import SOURCE, WIDTH  # noqa: E402

HERE = Path(__file__).resolve().parent
RULES = HERE.parent / "prometheus" / "rules"
CHART_RULES = HERE.parent / "helm" / "sequent" / "rules"

# The choices at the top, as (name, of which metric), for servers and for programs that use the SDK.
CHOICES = {
    "servers": [("cluster", "sequent_build_info"), ("instance", 'sequent_build_info{cluster=~"$cluster"}')],
    "sdk": [("job", "sequent_client_requests_total"), ("instance", 'sequent_client_requests_total{job=~"$job"}')],
}


def placed(panels):
    """Panels from left to right, a new line where one does not fit any more; each with its id."""
    x = y = line = 0
    for at, panel in enumerate(panels):
        width, height = panel["gridPos"]["w"], panel["gridPos"]["h"]
        if x + width > WIDTH:
            x, y, line = 0, y + line, 0
        yield {**panel, "id": at + 1, "gridPos": {"x": x, "y": y, "w": width, "h": height}}
        x, line = x + width, max(line, height)


def choice(name, metric):
    return {
        "name": name,
        "type": "query",
        "datasource": SOURCE,
        "definition": f"label_values({metric}, {name})",
        "query": {"query": f"label_values({metric}, {name})", "refId": name},
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
        "refresh": 2,
        "sort": 1,
    }


def dashboard(name, title, panels, about):
    source = {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    return {
        "uid": f"sequent-{name}",
        "title": title,
        "tags": ["sequent"],
        "schemaVersion": 39,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser",
        "links": [{"type": "dashboards", "tags": ["sequent"], "title": "Sequent", "asDropdown": True, "keepTime": True}],
        "templating": {"list": [source] + [choice(*chosen) for chosen in CHOICES[about]]},
        "panels": list(placed(panels)),
    }


def files():
    """Every generated file with its text."""
    for name, title, panels, about in dashboards.ALL:
        text = json.dumps(dashboard(name, title, panels, about), indent=2, ensure_ascii=False)
        yield HERE / "dashboards" / f"{name}.json", text + "\n"
    # A chart may read nothing outside its own folder.
    for rules in sorted(RULES.glob("*.yml")):
        yield CHART_RULES / rules.name, rules.read_text(encoding="utf-8")


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    wanted = dict(files())
    there = {path for folder in (HERE / "dashboards", CHART_RULES) for path in folder.glob("*.*")}
    differ = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    differ += sorted(there - set(wanted))
    if arguments:
        for path in differ:
            print(f"{path.relative_to(HERE.parent.parent)} is not what the generator writes")
        sys.exit(1 if differ else 0)
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in there - set(wanted):
        path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
