//! Tests of the whole client over scripted endpoints, with paused time.

mod above;
mod client_metrics;
mod failover;
mod foreign_endpoints;
mod gauge_share;
mod lease_expiry;
mod prometheus;
mod render;
mod scripted_endpoint;
mod unbuffered;
mod wait;
