//! What each request asks for.
//!
//! A benchmark that sends one request again and again measures a cache. This crate makes the load that real users make
//! as easy, and says in numbers, before anything is sent, what it will do to a server.
//!
//! A sampler here is a pure function of `(seed, seq)`: request 41 asks for the same key whoever sends it, whichever
//! thread draws first and whatever the server does meanwhile. So a run can be repeated, split over threads or
//! machines, and compared with another, request by request.
//!
//! ```
//! use openloop_workload::{Keys, Template};
//!
//! let keys: Keys = "zipf:1e6:0.99".parse()?;
//! let url = Template::new("http://cache.test/users/{key}");
//! let seed = 7;
//! assert_eq!(url.render(keys.key(seed, 41)), url.render(keys.key(seed, 41)));
//! # Ok::<(), openloop_workload::KeysError>(())
//! ```
//!
//! | my users … | look at |
//! | --- | --- |
//! | [ask for some things often](#some-keys-are-hot) | [`Keys`], [`keys`] |
//! | [ask for other things tomorrow](#keys-drift) | [`keys::Drift`], [`keys::Latest`] |
//! | [send large things and small ones](#sizes-vary) | [`Values`], [`values`] |
//! | [do several things](#there-are-several-kinds-of-request) | [`Mix`], [`Fields`], [`Template`] |
//! | [come, do one thing after the other, and go](#users-come-in-sessions) | [`sessions`] |
//! | [talk to a language model](#prompts-share-prefixes) | [`prompts`] |
//! | [were recorded](#there-is-a-trace-to-replay) | [`traces`] |
//!
//! Two samplers that serve the same request take seeds of their own, by [`named`].
//!
//! # Some keys are hot
//!
//! Few things are asked for often and many hardly ever. How hot the hot ones are decides what a cache can do, and with it
//! how long the service takes. [`keys::Zipf`] is told by its exponent, by what it does ("80 % of the requests on 20 % of
//! the keys"), or by a log ([`keys::Zipf::fit`]); [`Keys::hit_rate`] and [`Keys::lru_hit_rate`] say what a cache of a
//! given size will answer.
//!
#![doc = include_str!("../docs/hot_keys.svg")]
//!
//! ```
//! use openloop_workload::Keys;
//!
//! let keys: Keys = "zipf:1e6:0.99".parse()?;
//! // A thousandth of the keys takes half of the requests ...
//! assert!((keys.hit_rate(1_000) - 0.502).abs() < 0.001);
//! // ... of which a cache that evicts the least recently used answers three quarters.
//! assert!((keys.lru_hit_rate(1_000).unwrap_or_default() - 0.384).abs() < 0.001);
//! # Ok::<(), openloop_workload::KeysError>(())
//! ```
//!
//! # Keys drift
//!
//! What is hot today is not hot tomorrow: a cache that has learnt must learn again. `drift=20/200` moves the hot keys on
//! by 20 after every 200 requests; [`keys::Latest`] has the newest key the hottest, while new ones come.
//!
#![doc = include_str!("../docs/drift.svg")]
//!
//! # Sizes vary
//!
//! Bodies, answers, think times and the work of a request have a mean, and how far they spread about it decides how long
//! others wait: behind one server the wait grows with (1 + C_v²)/2. [`Values`] is any of nine laws, each of which tells
//! its mean, its C_v and its quantiles before anything is drawn.
//!
#![doc = include_str!("../docs/sizes.svg")]
//!
//! ```
//! use openloop_workload::Values;
//!
//! let sizes: Values = "lognormal:p50=180,p99=900".parse()?;
//! assert!((sizes.mean() - 228.7).abs() < 0.1 && (sizes.cv() - 0.784).abs() < 0.001);
//! # Ok::<(), openloop_workload::ValuesError>(())
//! ```
//!
//! # There are several kinds of request
//!
//! What comes rarely may be most of the work. A [`Mix`] has kinds by weight, each with its own templates and samplers,
//! and tells each one's share of the requests and of the work, and how uneven the whole is: here the wait for one server
//! is many times that of work that is always the same.
//!
#![doc = include_str!("../docs/mix.svg")]
//!
//! ```
//! use openloop_workload::{Mix, mix::Kind};
//!
//! let mix = Mix::new([
//!     Kind::new("view", 80.0, "GET /products/{product}").with_demand("lognormal:mean=3,cv=0.8".parse()?),
//!     Kind::new("search", 17.0, "GET /search?q={word}").with_demand("lognormal:mean=25,cv=1.5".parse()?),
//!     Kind::new("checkout", 3.0, "POST /orders").with_demand("gamma:mean=180,cv=1".parse()?),
//! ])?;
//! let checkouts = &mix.shares()[2];
//! assert!(checkouts.of_requests < 0.031 && checkouts.of_work > Some(0.44));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Fields`] fill the named places of a [`Template`] with keys, whole numbers, words and random text.
//!
//! # Users come in sessions
//!
//! Users arrive when they like, and then do one thing after the other: a step is asked for when its user has read the
//! answer before and thought about it. A slow server moves such requests in time and makes them no fewer.
//!
#![doc = include_str!("../docs/sessions.svg")]
//!
//! [`sessions::Sessions`] plans the steps and the think times; when a step is due, the answer before it decides.
//!
//! # Prompts share prefixes
//!
//! A server of a language model keeps what prompts began with, and is many times as fast where it knows the beginning.
//! [`prompts`] makes prompts of given lengths whose prefixes are shared by a law, so that what its cache hits is set by a
//! number; without that, a benchmark of random texts measures a server that nobody has, and one of equal texts another.
//!
#![doc = include_str!("../docs/prompts.svg")]
//!
//! # There is a trace to replay
//!
//! [`traces`] reads what was recorded: Azure's, BurstGPT's, Mooncake's and Bailian's public traces of language models,
//! and a plain CSV of any service. It tells what is odd about a trace before it is believed, and gives its arrivals at
//! any speed; its rows name the kinds of a mix, and their sizes are values in their order ([`values::Sequence`]).
//!
#![doc = include_str!("../docs/trace.svg")]
//!
//! # Stability
//!
//! The values that a seed gives are part of the interface: they are pinned by tests, and a release that changes one
//! says so under *Number-breaking* in its changelog. The plots are drawn by `cargo run --example plots`.
#![forbid(unsafe_code)]

mod draws;
pub mod keys;
pub mod mix;
mod number;
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
