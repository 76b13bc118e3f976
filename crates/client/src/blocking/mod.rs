//! Blocking API, for threads without `async`.
//!
//! ```
//! use sequent_client::blocking::Client;
//! let client = Client::in_memory();               // or Client::connect("http://a:7420,http://b:7420")?
//! let orders = client.sequence("order")?;
//! assert_eq!(orders.next()?.to_string(), "1");
//! # Ok::<(), sequent_client::Error>(())
//! ```

mod client;
mod sequence;
mod worker;

pub use crate::blocking::client::Client;
pub use crate::blocking::sequence::{Local, Sequence};
