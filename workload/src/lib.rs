//! What each request asks for.
//!
//! A sampler here is a pure function of `(seed, seq)`: request 41 asks for the same key whoever sends it, whichever
//! thread draws first and whatever the server does meanwhile. So a run can be repeated, split over threads or
//! machines, and compared with another, request by request.
//!
//! | I want … | look at |
//! | --- | --- |
//! | the key of each request, by a text such as `zipf:1000000:0.99` | [`Keys`] |
//! | to choose among laws of keys, and to know what a cache can do with them | [`keys`] |
//! | two samplers for one request | [`named`] |
//! | sizes, durations, token counts or think times, by a text such as `lognormal:p50=180,p99=900` | [`Values`] |
//! | to choose among their laws | [`values`] |
//! | several kinds of request, and to know how uneven their work is | [`Mix`] |
//! | users who do one thing after the other | [`sessions`] |
//! | prompts for a language model, and to set what its prefix cache hits | [`prompts`] |
//! | to replay what was recorded | [`traces`] |
//! | the key inside a URL, a header or a body | [`Template`] |
//! | several keys, sizes, words or random texts in one | [`Fields`] |
//!
//! The values that a seed gives are part of the interface: they are pinned by tests, and a release that changes one
//! says so under *Number-breaking* in its changelog.
//!
//! ```
//! use openloop_workload::{Keys, Template};
//!
//! let keys: Keys = "uniform:1000".parse()?;
//! let url = Template::new("http://cache.test/users/{key}");
//! let seed = 7;
//! assert_eq!(url.render(keys.key(seed, 41)), url.render(keys.key(seed, 41)));
//! # Ok::<(), openloop_workload::KeysError>(())
//! ```
#![forbid(unsafe_code)]

mod draws;
pub mod keys;
pub mod mix;
pub mod prompts;
mod seed;
pub mod sessions;
mod template;
pub mod traces;
pub mod values;

pub use keys::{Keys, KeysError};
pub use mix::{Fields, Mix};
pub use seed::{named, numbered};
pub use template::Template;
pub use values::{Values, ValuesError};
