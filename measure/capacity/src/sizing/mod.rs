//! From what was measured to what has to be bought and set.
//!
//! | I want … | look at |
//! | --- | --- |
//! | nodes for a peak | [`Nodes`] |
//! | connections in a pool, workers, permits | [`pool_size`] |
//! | how many requests or sequences are under way at once, now and then | [`Concurrency`] |
//! | blocks and bytes of a KV cache | [`KvCache`] |
//! | the timeout of a client | [`ClientTimeout`] |
//! | bounds of latency that mean something | [`LatencyBounds`] |

mod bounds;
mod concurrency;
mod kv_cache;
mod nodes;
mod pool;
mod timeout;

pub use bounds::LatencyBounds;
pub use concurrency::Concurrency;
pub use kv_cache::{KvCache, KvShape};
pub use nodes::Nodes;
pub use pool::pool_size;
pub use timeout::{ClientTimeout, TimeoutBasis};
