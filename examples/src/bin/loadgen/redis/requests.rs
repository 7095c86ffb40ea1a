//! What each request asks for.

use super::command::{self, Command};
use super::{RedisArgs, RedisMix};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_redis::{RedisError, Request, RequestError};
use openloop_workload::{Fields, Keys, Template};
use std::sync::Arc;

/// Request number `seq`, the same whoever sends it.
#[derive(Clone, Debug)]
pub(crate) enum Requests {
    /// All the same: made once.
    Same(Request),
    /// Each with its keys and values.
    Each(Arc<Each>),
    /// Of several kinds; of each, in order, the request if all are the same.
    Mixed(Arc<RedisMix>, u64, Arc<[Option<Request>]>),
}

/// A command with places.
#[derive(Debug)]
pub(crate) struct Each {
    command: Command,
    keys: Option<Keys>,
    values: Fields,
    pipeline: usize,
    seed: u64,
}

impl Requests {
    /// # Errors
    /// When the flags make no request.
    pub(crate) fn new(arguments: &RedisArgs, mix: Option<Arc<RedisMix>>) -> Result<Self, String> {
        let seed = arguments.load.schedule.seed;
        if let Some(mix) = mix {
            let made = mix.mix().kinds().iter().map(|kind| {
                let kind = kind.payload();
                kind.is_constant()
                    .then(|| kind.request(seed, 0))
                    .transpose()
            });
            let made = made.collect::<Result<Arc<[_]>, _>>();
            let made = made.map_err(|error| error.to_string())?;
            return Ok(Requests::Mixed(mix, seed, made));
        }
        let (text, values) =
            command::with_values(arguments.command.as_deref().unwrap_or_default())?;
        let each = Each {
            command: Command::parse(&text, arguments.script()?)?,
            keys: arguments.keys,
            values,
            pipeline: arguments.pipeline,
            seed,
        };
        each.check(arguments.script.is_some())?;
        let first = each.request(0).map_err(|error| error.to_string())?;
        if each.keys.is_none() && each.values.is_empty() {
            return Ok(Requests::Same(first));
        }
        Ok(Requests::Each(Arc::new(each)))
    }

    /// The first of each kind.
    ///
    /// # Errors
    /// When the words make no request.
    pub(crate) fn first(&self) -> Result<Vec<Request>, RequestError> {
        match self {
            Requests::Mixed(mix, seed, _) => {
                let kinds = mix.mix().kinds().iter();
                kinds.map(|kind| kind.payload().request(*seed, 0)).collect()
            }
            _ => Ok(vec![self.of(0)?]),
        }
    }

    /// # Errors
    /// When a key makes no request of it.
    pub(crate) fn of(&self, seq: u64) -> Result<Request, RequestError> {
        match self {
            Requests::Same(request) => Ok(request.clone()),
            Requests::Each(each) => each.request(seq),
            Requests::Mixed(mix, seed, made) => {
                let (index, kind) = mix.pick(*seed, seq);
                match made.get(index) {
                    Some(Some(request)) => Ok(request.clone()),
                    _ => kind.payload().request(*seed, seq),
                }
            }
        }
    }
}

impl Each {
    fn check(&self, is_script: bool) -> Result<(), String> {
        if is_script && self.pipeline > 1 {
            return Err("scripts are called one at a time: leave out --pipeline".to_owned());
        }
        let has_key = self.command.templates().iter().any(Template::has_key);
        match (&self.keys, has_key) {
            (Some(keys), false) => Err(format!(
                "--keys {keys} has no effect: write {{key}} in the command"
            )),
            (None, true) => Err(
                "{key} stands in the command and nothing says which keys there are: give --keys uniform:N or zipf:N:S"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    fn request(&self, seq: u64) -> Result<Request, RequestError> {
        self.command.pipeline(self.pipeline, |number, word| {
            // Each command of a pipeline is one of its own.
            let number = seq
                .wrapping_mul(self.pipeline as u64)
                .wrapping_add(number as u64);
            self.render(word, number)
        })
    }

    fn render(&self, word: &Template, number: u64) -> String {
        let mut places = word.places();
        match (places.next(), &self.keys) {
            (None, _) => word.text().to_owned(),
            (Some(_), Some(keys)) => {
                let key = keys.key(self.seed, number);
                if places.all(|place| place == "key") && word.has_key() {
                    return word.render(key);
                }
                // Random text has no braces: what is a place now was one before.
                let filled = self.values.render(word, self.seed, number);
                Template::new(filled).render(key)
            }
            (Some(_), None) => self.values.render(word, self.seed, number),
        }
    }
}

/// Why no reply came back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// The call failed.
    #[error(transparent)]
    Redis(#[from] RedisError),
    /// The request is none.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl Describe for CallError {
    fn verdict(&self) -> Verdict {
        match self {
            CallError::Redis(error) => error.verdict(),
            CallError::Request(_) => Verdict::Failed("request"),
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        if let CallError::Redis(error) = self {
            error.details(into);
        }
    }
}
