#!/usr/bin/env python3
"""Renders the chart with Helm's own library, and holds what comes out against the schemas of Kubernetes.

    pip install helm-python-sdk kubernetes-validate      Python 3.12 or later; neither needs a cluster nor `helm`
    python3 deploy/helm/lint.py

Not a part of the test command, which has neither package.
"""

import sys
from pathlib import Path

import kubernetes_validate
import yaml
from helm_python import chart

CHART = Path(__file__).resolve().parent / "sequent"
VERSIONS = ["1.30", "1.32"]

# Of the Prometheus operator: no schema of Kubernetes has them.
OTHERS = {"ServiceMonitor", "PrometheusRule"}
TRACES = '\n[traces]\nendpoint = "http://collector.tracing.svc:4318/v1/traces"\n'


def rendered(values):
    """All that the chart makes of these values, by kind and name."""
    manifests = chart.Chart.load(CHART).render(values, name="shop", namespace="shop", is_install=True)
    texts = [text for path, text in manifests.items() if not path.endswith("NOTES.txt")]
    found = [one for text in texts for one in yaml.safe_load_all(text) if one]
    return {(one["kind"], one["metadata"]["name"]): one for one in found}


def ports(objects):
    """The ports that the servers may reach."""
    rules = objects["NetworkPolicy", "shop-sequent"]["spec"]["egress"]
    return {port["port"] for rule in rules for port in rule["ports"]}


def runbooks(objects):
    """Where each alert's page is."""
    rules = [rule for group in objects["PrometheusRule", "shop-sequent"]["spec"]["groups"] for rule in group["rules"]]
    found = [rule["annotations"]["runbook_url"] for rule in rules if "alert" in rule]
    assert len(found) > 20, found
    return found


def cases():
    """Values by what they are for, each with what has to come of it."""
    config = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))["config"]
    servers = ("Deployment", "shop-sequent")
    yield "as shipped", {}, lambda all_: servers in all_ and 4318 not in ports(all_)
    disks = ("StatefulSet", "shop-sequent")
    disk = {"persistence": {"enabled": True, "storageClassName": "fast"}}
    yield "disks", disk, lambda all_: all_[disks]["spec"]["volumeClaimTemplates"] and servers not in all_
    yield "traces", {"config": config + TRACES}, lambda all_: 4318 in ports(all_)
    yield "traces that are a comment", {"config": config + TRACES.replace("\n", "\n# ")}, lambda all_: 4318 not in ports(all_)
    watched = {"serviceMonitor": {"enabled": True}, "prometheusRule": {"enabled": True}}
    yield "watched", watched, lambda all_: ("PrometheusRule", "shop-sequent") in all_
    encrypted = {"tlsSecret": "sequent-tls", "serviceMonitor": {"enabled": True}}
    probe = lambda all_: all_[servers]["spec"]["template"]["spec"]["containers"][0]["livenessProbe"]["httpGet"]["scheme"]
    yield "TLS", encrypted, lambda all_: probe(all_) == "HTTPS"
    monitor = ("ServiceMonitor", "shop-sequent")
    token = {"serviceMonitor": {"enabled": True}, "metricsTokenSecret": "sequent-metrics"}
    sent = lambda all_: all_[monitor]["spec"]["endpoints"][0]["authorization"]["credentials"]["name"]
    yield "a token for metrics", token, lambda all_: sent(all_) == "sequent-metrics"
    yield "no TLS", {}, lambda all_: probe(all_) == "HTTP"
    based = {"prometheusRule": {"enabled": True, "runbookBase": "https://git.example/sequent/blob/main"}}
    yield "runbooks", based, lambda all_: all(url.startswith("https://git.example/sequent/blob/main/deploy/") for url in runbooks(all_))
    yield "no runbooks", watched, lambda all_: all(url.startswith("{{ $externalLabels.runbooks }}deploy/") for url in runbooks(all_))
    linked = lambda all_, kind: all_[kind]["spec"]["template"]["spec"]["enableServiceLinks"]
    yield "no variables of other Services", {}, lambda all_: linked(all_, servers) is False
    yield "none with disks", disk, lambda all_: linked(all_, disks) is False
    shut = {"networkPolicy": {"monitoring": [], "storePorts": []}}
    yield "shut", shut, lambda all_: ports(all_) == {53}


def main():
    for name, values, holds in cases():
        report = chart.lint(CHART, values, strict=True)
        if report["errors"]:
            sys.exit(f"{name}: {report['errors']}")
        objects = rendered(values)
        for (kind, _), one in objects.items():
            for version in VERSIONS if kind not in OTHERS else []:
                kubernetes_validate.validate(one, version, strict=True)
        if not holds(objects):
            sys.exit(f"{name}: not what it has to be: {sorted(objects)}")
        print(f"{name}: {len(objects)} objects, no fault")


if __name__ == "__main__":
    main()
