"""What each dashboard shows. Only metrics that servers have (docs/reference/metrics.md), so that no panel is empty."""

from panels import figure, graph, states, table
from queries import CLUSTER, EVERY, OF, SDK, events, histogram, latency, of, per_second, quantile

GOOD, WARN, BAD = "green", "orange", "red"
NONE_ALLOWED = ((None, GOOD), (1, BAD))
TRUE_WANTED = ((None, BAD), (1, GOOD))
# Of what was scraped, not of a rule's last look: it shows a slot that went with the first scrape that knows of it.
LIVE = "sum by (cluster, namespace, job, instance) (sequent_slot_state%s)" % of('state="live"')
UNIQUENESS = (
    "SequentCounterRegressed|SequentQuarantined|SequentCounterQuarantined|SequentStoreCameBackEmpty|SequentLedgerBehind"
    "|SequentRecoveryRequired|SequentClusterBehind|SequentGuardViolation"
)

OVERVIEW = [
    figure(
        "Uniqueness alerts",
        f'count(ALERTS{{alertstate="firing", cluster=~"$cluster", alertname=~"{UNIQUENESS}"}}) or 0 * max(cluster:sequent_guard_violations:sum{CLUSTER})',
        steps=NONE_ALLOWED,
        unknown=BAD,
        nothing="no rules",
        about="Anything but 0 is for a person, at once: deploy/runbooks/alerts.md. Where the rules are not loaded, or nothing is scraped, no alert can fire.",
    ),
    figure("Numbers a second", per_second("sequent_numbers_issued_total"), decimals=0),
    figure("Requests a second", per_second("sequent_requests_total"), decimals=0),
    figure(
        "Failed, 5 minutes",
        f"max(cluster:sequent_requests_failed:ratio_rate5m{CLUSTER} or cluster:sequent_requests:rate5m{CLUSTER} * 0)",
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
        f"min({LIVE})",
        steps=((None, BAD), (1, WARN), (2, GOOD)),
        about="As the server sees it that has the fewest. One is enough to serve.",
    ),
    figure("Servers up", f"sum(up{OF})", steps=((None, BAD), (1, GOOD))),
    states("Slots, as each server sees them", about="A shard that is gone costs no request: the others serve."),
    graph("Numbers a second", [(per_second("sequent_numbers_issued_total", "api, method"), "{{api}} {{method}}")], stack=True),
    graph("Requests a second", [(per_second("sequent_requests_total", "api, method"), "{{api}} {{method}}")], stack=True),
    graph(
        "Failed requests by reason",
        [(per_second("sequent_requests_total", "reason", of('reason!="OK"')), "{{reason}}")],
        unit="reqps",
    ),
    graph("Latency of next", latency("next"), unit="s", log=True),
    graph("Reserve", [(f"sum by (instance) (sequent_reserve_numbers{OF})", "{{instance}}")], about="Numbers ready in memory."),
    graph(
        "Alerts that fire",
        [('count by (alertname) (ALERTS{alertstate="firing", cluster=~"$cluster", alertname=~"Sequent.*"}) or on() vector(0)', "{{alertname}}")],
        stack=True,
    ),
]

SHARDS = [
    states("Slots, as each server sees them"),
    graph("Live slots", [(LIVE, "{{instance}}")]),
    table(
        "Now",
        f"sequent_slot_state{OF} == 1",
        [("slot", "slot"), ("state", "state"), ("instance", "server")],
    ),
    graph("Takes by outcome", [(per_second("sequent_slot_takes_total", "outcome"), "{{outcome}}")], stack=True),
    graph(
        "Takes that failed",
        [(per_second("sequent_slot_takes_total", "slot, outcome", of('outcome!="ok"')), "slot {{slot}} {{outcome}}")],
        stack=True,
        about="timeout: an unknown outcome, whose numbers are burnt.",
    ),
    graph("How long takes last, p99", histogram("sequent_slot_take_duration_seconds", "slot"), unit="s", log=True),
    graph("Slow events", [(events("sequent_slot_slow_events_total", "slot"), "slot {{slot}}")], stack=True, about="Three within a minute evict a slot."),
    graph("Evictions", [(events("sequent_slot_evictions_total", "slot, kind"), "slot {{slot}} {{kind}}")], stack=True),
    graph("Rescues", [(events("sequent_slot_rescues_total", "slot"), "slot {{slot}}")], stack=True),
    graph("Rescues that failed", [(events("sequent_slot_probes_failed_total", "slot, kind"), "slot {{slot}} {{kind}}")], stack=True),
    graph(
        "Behind the ring's front",
        [(f"max by (slot) (sequent_slot_lag_ids{OF})", "slot {{slot}}")],
        about="In raw ids, the most over all keys: how far numbers may be out of order. Who lags gives first; who gives nothing meanwhile rests.",
    ),
    graph(
        "Counters that rest",
        [(f"max by (slot) (sequent_resting_counters{OF})", "slot {{slot}}")],
        about="Live, and asked for nothing until the other slots come up to them: after a loss, or a rescue. The work is done by the slots at 0.",
    ),
    table(
        "Durability",
        f"max by (slot, store, class) (sequent_slot_durability_info{OF}) == 1",
        [("slot", "slot"), ("store", "store"), ("class", "class")],
    ),
    table(
        "Layout",
        f"sequent_layout_info{OF}",
        [("instance", "server"), ("shard_bits", "n"), ("memory_bits", "m"), ("generation", "generation")],
    ),
    graph("Counters at their end", [(events("sequent_counters_retired_total", "slot"), "slot {{slot}}")], stack=True),
]

GUARD = [
    figure("Ledger trusted", f"1 - max(sequent_ledger_behind{OF})", steps=TRUE_WANTED, width=6, unknown=BAD),
    figure("Ledger reached", f"1 - max(sequent_ledger_away{OF})", steps=TRUE_WANTED, width=6, unknown=BAD),
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
    graph("What must never happen", [(events("sequent_guard_violations_total", "kind"), "{{kind}}")], stack=True, about="All that pages for uniqueness."),
    graph(
        "Time without the ledger, least",
        [
            (f"sequent_outage_left_seconds{OF} < Inf", "{{instance}}"),
            (f"max(sequent_outage_seconds{OF})", "ledger.outage_s"),
        ],
        unit="s",
        about="For how long numbers go on if the ledger is away from now on: of the counter in demand that has the least. At 0, its requests fail.",
    ),
    graph(
        "Time without the ledger, by sequence",
        [(f"min by (sequence) (sequent_sequence_outage_left_seconds{OF})", "{{sequence}}")],
        unit="s",
        about="Of sequences in demand that the configuration names. A sequence whose end is near has less than ledger.outage_s.",
    ),
    graph("Ceilings held", [(f"sequent_ceilings{OF}", "{{instance}}")]),
    graph("Calls of the ledger", [(per_second("sequent_ledger_calls_total", "call, outcome"), "{{call}} {{outcome}}")], stack=True),
    graph("How long the ledger takes, p99", histogram("sequent_ledger_call_duration_seconds", "call"), unit="s", log=True),
    graph("Another instance", [(events("sequent_instance_changes_total", "of, slot"), "{{of}} {{slot}}")], stack=True, about="Restarts, failovers, restores."),
    graph("Counters that went back", [(events("sequent_regressions_total", "slot"), "slot {{slot}}")], stack=True),
    graph("Quarantines", [(events("sequent_quarantines_total", "slot, kind"), "slot {{slot}} {{kind}}")], stack=True),
    graph(
        "Counters in quarantine",
        [(f"max by (slot) (sequent_quarantined_counters{OF})", "slot {{slot}}")],
        stack=True,
        about="Until a person clears their slot: `sequent shards` says what to do.",
    ),
    graph("Stores that came back empty", [(events("sequent_stores_stamped_again_total", "slot"), "slot {{slot}}")], stack=True),
    graph(
        "Epochs opened",
        [(events("sequent_epochs_opened_total", "slot"), "slot {{slot}}")],
        stack=True,
        about="A counter's first use, and one after each loss. Many at once: a store, or the ledger, was restarted.",
    ),
    graph(
        "Raw ids skipped",
        [(events("sequent_raw_ids_skipped_total", "slot"), "slot {{slot}}")],
        stack=True,
        about="The price of a loss: left out when an epoch was opened, and when a rescued counter was moved to the ring's front.",
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
    graph("Reserve in seconds, least", [(f"sequent_reserve_seconds{OF}", "{{instance}}")], unit="s", about="Of the key in demand that has the least."),
    graph("Numbers at risk", [(f"sequent_numbers_at_risk{OF}", "{{instance}}")], about="What a crash now would burn."),
    graph("Refills", [(per_second("sequent_refills_total", "outcome"), "{{outcome}}")], stack=True),
    graph("How long refills last", histogram("sequent_refill_duration_seconds"), unit="s", log=True),
    graph("Requests that waited for shards", [(per_second("sequent_refill_waits_total", "instance"), "{{instance}}")], unit="reqps"),
    graph("Requests that wait now", [(f"sequent_refill_waiting_requests{OF}", "{{instance}}")]),
    graph(
        "Left of ranges",
        [
            (f"min by (sequence) (sequent_headroom_ratio{OF})", "{{sequence}}"),
            (f"min(sequent_headroom_least_ratio{OF})", "least of all"),
        ],
        unit="percentunit",
    ),
    graph(
        "Time to the end of ranges",
        [
            (f"min by (sequence) (sequent_exhaustion_seconds{OF})", "{{sequence}}"),
            (f"min(sequent_exhaustion_least_seconds{OF})", "least of all"),
        ],
        unit="s",
        log=True,
    ),
    graph("Numbers a second, by where they came from", [(per_second("sequent_numbers_issued_total", "path"), "{{path}}")], stack=True),
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
    graph("Keys near their end", [(events("sequent_near_end_total", "instance"), "{{instance}}")], stack=True, about="Where a template warns."),
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
    graph("Processors in use", [(f"rate(process_cpu_seconds_total{OF}{EVERY})", "{{instance}}")]),
    graph("Memory", [(f"process_resident_memory_bytes{OF}", "{{instance}}")], unit="bytes"),
    graph("Descriptors", [(f"process_open_fds{OF}", "{{instance}}"), (f"process_max_fds{OF}", "{{instance}}, most")], log=True),
    graph("Up for", [(f"time() - process_start_time_seconds{OF}", "{{instance}}")], unit="s"),
    graph("Busy threads of the runtime", [(f"sequent_runtime_busy_ratio{OF}", "{{instance}}")], unit="percentunit"),
    graph(
        "Tasks",
        [
            (f"sequent_runtime_alive_tasks{OF}", "{{instance}} alive"),
            (f"sequent_runtime_queue_depth{OF}", "{{instance}} waiting"),
        ],
    ),
    graph(
        "Draining",
        [(f"sequent_draining_seconds{OF}", "{{instance}}"), (f"max(sequent_drain_limit_seconds{OF})", "allowed")],
        unit="s",
        about="Beyond what is allowed, a store or the ledger does not answer.",
    ),
    graph("Configurations read", [(events("sequent_config_reloads_total", "outcome"), "{{outcome}}")], stack=True),
    graph("Time of a scrape", [(f"scrape_duration_seconds{OF}", "{{instance}}")], unit="s", about="A server that is slow to say how it is."),
    graph("Series of a server", [(f"scrape_samples_scraped{OF}", "{{instance}}")], about="Bounded: it depends on slots and APIs, not on keys."),
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
    graph("Endpoints in use", [(f"sum by (endpoint) (sequent_client_endpoint_live{SDK})", "{{endpoint}}")], about="By how many clients."),
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
