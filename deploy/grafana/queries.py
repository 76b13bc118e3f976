"""What panels ask Prometheus, in a few shapes."""

# Whose series: the cluster and servers chosen at the top.
OF = '{cluster=~"$cluster", instance=~"$instance"}'
CLUSTER = '{cluster=~"$cluster"}'
SDK = '{job=~"$job", instance=~"$instance"}'
EVERY = "[$__rate_interval]"


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


def histogram(metric, by=""):
    """The usual three quantiles of a histogram; or its 99th percentile by a label."""
    if by:
        rate = f"sum by (le, {by}) (rate({metric}_bucket{OF}{EVERY}))"
        return [(f"histogram_quantile(0.99, {rate})", f"{{{{{by}}}}}")]
    return [(quantile(share, metric, OF), f"p{name}") for share, name in ((0.5, "50"), (0.99, "99"), (0.999, "99.9"))]
