//! The whole client over scripted endpoints, under paused time.

mod above;
mod ageing;
mod exposed;
mod failover;
mod fresh;
mod script;
mod shared;
mod strangers;
mod taking;
mod texts;
mod told;
