"""What each dashboard shows. Only metrics that servers have today (../prometheus/METRICS.md), so that no panel is empty."""

from panels import figure, graph, states, table

# Whose series: the cluster and servers chosen at the top.
OF = '{cluster=~"$cluster", instance=~"$instance"}'
CLUSTER = '{cluster=~"$cluster"}'
SDK = '{job=~"$job", instance=~"$instance"}'
EVERY = "[$__rate_interval]"

GOOD, WARN, BAD = "green", "orange", "red"
NONE_ALLOWED = ((None, GOOD), (1, BAD))


def of(more):
    """The same with further conditions."""
    return '{cluster=~"$cluster", instance=~"$instance", %s}' % more


def per_second(metric, by="", chosen=OF):
    """The rate of a counter, summed over all but `by`."""
    grouped = f" by ({by})" if by else ""
    return f"sum{grouped} (rate({metric}{chosen}{EVERY}))"


def events(metric, by, chosen=OF):
    """How often something rare happened, in the interval of a point; 0 where it never did, and so has no series."""
    return f"sum by ({by}) (increase({metric}{chosen}{EVERY})) or on() vector(0)"


def quantile(share, metric, chosen):
    """A quantile over servers, from their common buckets."""
    return f"histogram_quantile({share}, sum by (le) (rate({metric}_bucket{chosen}{EVERY})))"


def latency(method):
    """The usual three quantiles of a method."""
    chosen = of(f'method="{method}"')
    metric = "sequent_request_duration_seconds"
    return [(quantile(share, metric, chosen), f"p{name}") for share, name in ((0.5, "50"), (0.99, "99"), (0.999, "99.9"))]


LIVE_LEAST = f"min(instance:sequent_slots_live:count{OF})"
UNIQUENESS = (
    "SequentCounterRegressed|SequentQuarantined|SequentStoreCameBackEmpty|SequentLedgerBehind"
    "|SequentRecoveryRequired|SequentClusterBehind"
)

OVERVIEW = [
    figure(
        "Uniqueness alerts",
        f'count(ALERTS{{alertstate="firing", cluster=~"$cluster", alertname=~"{UNIQUENESS}"}}) or on() vector(0)',
        steps=NONE_ALLOWED,
        about="Anything but 0 is for a person, at once: deploy/runbooks/alerts.md",
    ),
    figure("Numbers a second", per_second("sequent_numbers_issued_total"), decimals=0),
    figure("Requests a second", per_second("sequent_requests_total"), decimals=0),
    figure(
        "Failed, 5 minutes",
        f"max(cluster:sequent_requests_failed:ratio_rate5m{CLUSTER}) or on() vector(0)",
        unit="percentunit",
        steps=((None, GOOD), (0.0001, WARN), (0.00144, BAD)),
        about="Of all requests, those where the cluster did not do its part. 0.01 % is the budget.",
    ),
    figure(
        "Budget left, 3 days",
        f"1 - max(cluster:sequent_requests_failed:ratio_rate3d{CLUSTER} or cluster:sequent_requests:rate3d{CLUSTER} * 0) / 0.0001",
        unit="percentunit",
        steps=((None, BAD), (0, WARN), (0.5, GOOD)),
        about="What is left of 99.99 % over the last three days.",
    ),
    figure(
        "p99 of next",
        quantile(0.99, "sequent_request_duration_seconds", of('method="next"')),
        unit="s",
        steps=((None, GOOD), (0.005, WARN), (0.1, BAD)),
    ),
    figure(
        "Live slots, least",
        LIVE_LEAST,
        steps=((None, BAD), (1, WARN), (2, GOOD)),
        about="As the server sees it that has the fewest. One is enough to serve.",
    ),
    figure("Servers up", f"sum(up{OF})", steps=((None, BAD), (1, GOOD))),
    states("Slots, as each server sees them", about="A shard that is gone costs no request: the others serve."),
    graph("Numbers a second", [(per_second("sequent_numbers_issued_total", "door, method"), "{{door}} {{method}}")], stack=True),
    graph("Requests a second", [(per_second("sequent_requests_total", "door, method"), "{{door}} {{method}}")], stack=True),
    graph(
        "Failed requests by reason",
        [(per_second("sequent_requests_total", "reason", of('reason!="OK"')), "{{reason}}")],
        unit="reqps",
    ),
    graph("Latency of next", latency("next"), unit="s", log=True),
    graph("Reserve", [(f"sum by (instance) (sequent_reserve_numbers{OF})", "{{instance}}")], about="Numbers ready in memory."),
    graph(
        "Alerts that fire",
        [('count by (alertname) (ALERTS{alertstate="firing", alertname=~"Sequent.*"}) or on() vector(0)', "{{alertname}}")],
        stack=True,
    ),
]

SHARDS = [
    states("Slots, as each server sees them"),
    graph("Live slots", [(f"instance:sequent_slots_live:count{OF}", "{{instance}}")]),
    table(
        "Now",
        f"sequent_slot_state{OF} == 1",
        [("slot", "slot"), ("state", "state"), ("instance", "server")],
    ),
    graph("Evictions", [(events("sequent_slot_evictions_total", "slot, kind"), "slot {{slot}} {{kind}}")], stack=True),
    graph("Rescues", [(events("sequent_slot_rescues_total", "slot"), "slot {{slot}}")], stack=True),
    graph("Rescues that failed", [(events("sequent_slot_probes_failed_total", "slot, kind"), "slot {{slot}} {{kind}}")], stack=True),
    graph("Counters at their end", [(events("sequent_counters_retired_total", "slot"), "slot {{slot}}")], stack=True),
]

GUARD = [
    figure("Ledger trusted", f"1 - (max(sequent_ledger_behind{OF}) or on() vector(0))", steps=((None, BAD), (1, GOOD)), width=6),
    figure("Ledger reached", f"1 - (max(sequent_ledger_away{OF}) or on() vector(0))", steps=((None, BAD), (1, GOOD)), width=6),
    figure(
        "Slots in quarantine",
        "sum(max by (slot) (sequent_slot_state%s))" % of('state="quarantined"'),
        steps=NONE_ALLOWED,
        width=6,
    ),
    figure(
        "Counters that went back, a day",
        f"round(sum(increase(sequent_regressions_total{OF}[1d])))",
        steps=NONE_ALLOWED,
        width=6,
    ),
    graph("Counters that went back", [(events("sequent_regressions_total", "slot"), "slot {{slot}}")], stack=True),
    graph("Quarantines", [(events("sequent_quarantines_total", "slot, kind"), "slot {{slot}} {{kind}}")], stack=True),
    graph("Stores that came back empty", [(events("sequent_stores_stamped_again_total", "slot"), "slot {{slot}}")], stack=True),
    graph(
        "Lives opened",
        [(events("sequent_lives_opened_total", "slot"), "slot {{slot}}")],
        stack=True,
        about="A counter's first use, and one after each loss. Many at once: a store, or the ledger, was restarted.",
    ),
    graph(
        "Raw ids skipped",
        [(events("sequent_raw_ids_skipped_total", "slot"), "slot {{slot}}")],
        stack=True,
        about="The price of a loss: left out when a life was opened.",
    ),
    graph(
        "Raw ids above their ceiling",
        [(events("sequent_unwitnessed_raw_ids_total", "slot"), "slot {{slot}}")],
        stack=True,
        about="While the ledger was away. No store that gave them may be put back before it has answered.",
    ),
    graph("Marks that no other shard took", [(events("sequent_ledger_marks_lost_total", "instance"), "{{instance}}")], stack=True),
    graph(
        "Requests refused for a loss",
        [(per_second("sequent_requests_total", "reason", of('reason=~"RECOVERY_REQUIRED|CLUSTER_BEHIND"')), "{{reason}}")],
        unit="reqps",
    ),
]

RESERVOIR = [
    graph("Reserve", [(f"sum by (instance) (sequent_reserve_numbers{OF})", "{{instance}}")], about="Numbers ready in memory, over all keys."),
    graph(
        "Reserve in seconds",
        [
            (
                f"sum by (instance) (sequent_reserve_numbers{OF}) / (sum by (instance) (rate(sequent_numbers_issued_total{OF}{EVERY})) > 0)",
                "{{instance}}",
            )
        ],
        unit="s",
        about="How long the reserve would last at the present consumption, all keys taken together.",
    ),
    graph("Numbers a second", [(per_second("sequent_numbers_issued_total", "method"), "{{method}}")], stack=True),
    graph("Numbers burnt", [(f'{per_second("sequent_numbers_burnt_total", "why")} or on() vector(0)', "{{why}}")], stack=True),
    graph(
        "Numbers a request",
        [
            (quantile(share, "sequent_request_numbers", OF), f"p{name}")
            for share, name in ((0.5, "50"), (0.99, "99"))
        ],
        log=True,
    ),
    graph("Latency of next", latency("next"), unit="s", log=True, about="A number that is ready takes microseconds; one that is not waits for a store."),
    graph("Keys in use", [(f"sequent_live_keys{OF}", "{{instance}}")]),
]

RUNTIME = [
    figure("Servers up", f"sum(up{OF})", steps=((None, BAD), (1, GOOD)), width=6),
    figure("Servers ready", f"sum(sequent_ready{OF})", steps=((None, BAD), (1, GOOD)), width=6),
    figure("Versions", f"count(count by (version) (sequent_build_info{OF}))", steps=((None, GOOD), (2, WARN)), width=6),
    figure("Requests in work", f"sum(sequent_requests_in_flight{OF})", steps=((None, GOOD), (16000, BAD)), width=6),
    graph("Requests in work", [(f"sequent_requests_in_flight{OF}", "{{instance}}")], about="20,000 at most; beyond, QUOTA_EXCEEDED."),
    graph("Connections", [(f"sum by (instance, listener) (sequent_connections{OF})", "{{instance}} {{listener}}")]),
    graph("Connections refused", [(events("sequent_connections_refused_total", "listener, reason"), "{{listener}} {{reason}}")], stack=True),
    table("Versions", f"sequent_build_info{OF}", [("instance", "server"), ("version", "version")]),
    graph("Time of a scrape", [(f"scrape_duration_seconds{OF}", "{{instance}}")], unit="s", about="A server that is slow to say how it is."),
    graph("Series of a server", [(f"scrape_samples_scraped{OF}", "{{instance}}")], about="Bounded: it depends on slots and doors, not on keys."),
]

CLIENTS = [
    graph("Numbers handed out", [(per_second("sequent_client_numbers_issued_total", "path", SDK), "{{path}}")], stack=True),
    graph("Numbers leased", [(per_second("sequent_client_numbers_leased_total", "instance", SDK), "{{instance}}")], stack=True),
    graph("Leased and ready", [(f"sum by (instance) (sequent_client_reserve_numbers{SDK})", "{{instance}}")]),
    graph("Numbers burnt", [(f'{per_second("sequent_client_numbers_burnt_total", "why", SDK)} or on() vector(0)', "{{why}}")], stack=True, about="Leases that aged, answers that came too late."),
    graph("Requests to servers", [(per_second("sequent_client_requests_total", "verb, outcome", SDK), "{{verb}} {{outcome}}")], unit="reqps"),
    graph(
        "Mean time of a request",
        [
            (
                f"sum by (verb) (rate(sequent_client_request_seconds_sum{SDK}{EVERY})) / (sum by (verb) (rate(sequent_client_request_seconds_count{SDK}{EVERY})) > 0)",
                "{{verb}}",
            )
        ],
        unit="s",
    ),
    graph("Calls that failed", [(f'{per_second("sequent_client_errors_total", "reason", SDK)} or on() vector(0)', "{{reason}}")], unit="reqps"),
    graph("Endpoints in use", [(f"sum by (endpoint) (sequent_client_endpoint_live{SDK})", "{{endpoint}}")], about="By how many programs."),
    graph(
        "Endpoints put out, and back",
        [
            (events("sequent_client_endpoint_evictions_total", "endpoint", SDK), "out {{endpoint}}"),
            (events("sequent_client_endpoint_rescues_total", "endpoint", SDK), "back {{endpoint}}"),
        ],
    ),
]

# File, title, panels, and whether it is about servers or about the programs that use the SDK.
ALL = [
    ("overview", "Sequent: overview", OVERVIEW, "servers"),
    ("shards", "Sequent: shards", SHARDS, "servers"),
    ("guard", "Sequent: guard", GUARD, "servers"),
    ("reservoir", "Sequent: reservoir", RESERVOIR, "servers"),
    ("runtime", "Sequent: runtime", RUNTIME, "servers"),
    ("sdk", "Sequent: SDK", CLIENTS, "sdk"),
]
