//! Which key a request asks for.
//!
//! Keys are the whole numbers `1..=n`. A benchmark that asks for one key measures a cache, and one that asks for all
//! equally often measures what no cache helps; what real services see lies between.
//!
//! | I want … | look at | in a text |
//! | --- | --- | --- |
//! | every key equally often, at random | [`Uniform`] | `uniform:1000` |
//! | every key in turn, a scan | [`Sequential`] | `sequential:1000` |
//! | few keys hot and many cold, as people ask for things | [`Zipf`] | `zipf:1000:0.99` |
//! | 80 % of the requests on 20 % of the keys | [`Zipf::from_share`] | `zipf:1000:80/20` |
//! | the law behind an access log | [`Zipf::fit`] | |
//! | some keys hot, the others not | [`HotSpot`] | `hotspot:1000:0.2:0.8` |
//! | what was inserted last | [`Latest`] | `latest:1000:0.99:0.05` |
//! | hot keys that change with time | [`Drift`] | `zipf:1000:0.99:drift=10/5000` |
//! | hot keys scattered over the key space | [`Scramble`] | `zipf:1000:0.99:scrambled` |
//! | how much a cache of a given size can do | [`Keys::hit_rate`], [`Keys::lru_hit_rate`] | |
//!
//! Every key is a function of `(seed, seq)` alone. Two samplers that serve the same request need seeds of their own:
//! [`named`](crate::named).

mod cache;
mod chosen;
mod drift;
mod error;
mod hotspot;
mod latest;
mod law;
mod scramble;
mod sequential;
mod table;
mod text;
mod uniform;
mod zipf;

pub use chosen::Keys;
pub use drift::Drift;
pub use error::KeysError;
pub use hotspot::HotSpot;
pub use latest::Latest;
pub use law::Law;
pub use scramble::Scramble;
pub use sequential::Sequential;
pub use uniform::Uniform;
pub use zipf::{FitError, ShareError, Zipf, ZipfFit};

/// "keys" in ASCII: what is drawn here shares no numbers with what is drawn elsewhere from the same seed.
const STREAM: u64 = 0x6b65_7973;
