//! What each request asks for.

use super::{GrpcArgs, GrpcMix};
use openloop_grpc::{GrpcError, Method, Pace, Request, SchemaError};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_workload::{Keys, Template};
use std::sync::Arc;

/// Methods by their names.
#[derive(Debug)]
pub(crate) struct Methods(Vec<Method>);

impl Methods {
    /// # Errors
    /// Of the first that `find` does not find.
    pub(crate) fn find(
        names: &[String],
        find: impl Fn(&str) -> Result<Method, SchemaError>,
    ) -> Result<Self, SchemaError> {
        let methods = names.iter().map(|name| find(name));
        methods.collect::<Result<_, _>>().map(Methods)
    }
}

/// Request number `seq`, the same whoever sends it.
#[derive(Clone, Debug)]
pub(crate) enum Calls {
    /// All the same: made once.
    Same(Request),
    /// Each with its keys.
    Each(Arc<Each>),
    /// Of several kinds.
    Mixed(Arc<Mixed>),
}

/// A method with places in its messages.
#[derive(Debug)]
pub(crate) struct Each {
    method: Method,
    data: Vec<Template>,
    /// How often `data` is sent.
    messages: usize,
    pace: Option<Pace>,
    keys: Option<Keys>,
    seed: u64,
}

/// Kinds and, of each in order, its method and the request if all are the same.
#[derive(Debug)]
pub(crate) struct Mixed {
    mix: Arc<GrpcMix>,
    methods: Vec<(Method, Option<Request>)>,
    seed: u64,
}

impl Calls {
    /// `methods` are those of the kinds in order, or the one that is called.
    ///
    /// # Errors
    /// When the flags make no request.
    pub(crate) fn new(
        arguments: &GrpcArgs,
        mix: Option<Arc<GrpcMix>>,
        methods: &Methods,
    ) -> Result<Self, String> {
        let seed = arguments.load.schedule.seed;
        if let Some(mix) = mix {
            return Mixed::new(mix, methods, seed).map(|mixed| Calls::Mixed(Arc::new(mixed)));
        }
        let [method] = methods.0.as_slice() else {
            return Err("what is asked is not said: give --method, or --mix FILE".to_owned());
        };
        let data = match arguments.data.as_slice() {
            [] => vec![Template::new("{}")],
            several => several.iter().map(Template::new).collect(),
        };
        let each = Each {
            method: method.clone(),
            data,
            messages: arguments.messages,
            pace: arguments.pace,
            keys: arguments.keys,
            seed,
        };
        each.check()?;
        let first = each.request(0).map_err(|error| error.to_string())?;
        if each.keys.is_none() {
            return Ok(Calls::Same(first));
        }
        Ok(Calls::Each(Arc::new(each)))
    }

    /// # Errors
    /// When a key makes no request of it.
    pub(crate) fn of(&self, seq: u64) -> Result<Request, CallError> {
        match self {
            Calls::Same(request) => Ok(request.clone()),
            Calls::Each(each) => each.request(seq),
            Calls::Mixed(mixed) => mixed.request(seq),
        }
        .map_err(CallError::Schema)
    }
}

impl Each {
    fn check(&self) -> Result<(), String> {
        let kind = self.method.kind();
        if !kind.client_streams() && (self.data.len() > 1 || self.messages > 1) {
            return Err(format!(
                "{} is {kind} and takes one message: leave out --messages, and give --data once",
                self.method.name()
            ));
        }
        if !kind.client_streams() && self.pace.is_some() {
            return Err(format!(
                "{} is {kind}, and its one message has no pace: leave out --pace",
                self.method.name()
            ));
        }
        let has_key = self.data.iter().any(Template::has_key);
        match (&self.keys, has_key) {
            (Some(keys), false) => Err(format!(
                "--keys {keys} has no effect: write {{key}} in --data"
            )),
            (None, true) => Err(
                "{key} stands in --data and nothing says which keys there are: give --keys uniform:N or zipf:N:S"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    fn request(&self, seq: u64) -> Result<Request, SchemaError> {
        let times = self.messages as u64;
        let messages = (0..times).flat_map(|number| {
            // Each message of a stream has a key of its own.
            let number = seq.wrapping_mul(times).wrapping_add(number);
            self.data.iter().map(move |data| match &self.keys {
                Some(keys) => data.render(keys.key(self.seed, number)),
                None => data.text().to_owned(),
            })
        });
        let request = self.method.request(messages)?;
        Ok(request.pace(self.pace.unwrap_or_default())?)
    }
}

impl Mixed {
    fn new(mix: Arc<GrpcMix>, methods: &Methods, seed: u64) -> Result<Self, String> {
        let kinds = mix.mix().kinds().iter().zip(&methods.0);
        let made = kinds.map(|(kind, method)| {
            let first = method.request([kind.payload().data(seed, 0)]);
            let first = first.map_err(|error| {
                format!(
                    "{}: the kind \"{}\": {error}",
                    mix.file().display(),
                    kind.name()
                )
            })?;
            let same = kind.payload().is_constant().then_some(first);
            Ok::<_, String>((method.clone(), same))
        });
        let methods = made.collect::<Result<_, _>>()?;
        Ok(Mixed { mix, methods, seed })
    }

    fn request(&self, seq: u64) -> Result<Request, SchemaError> {
        let (place, kind) = self.mix.pick(self.seed, seq);
        match self.methods.get(place) {
            Some((_, Some(same))) => Ok(same.clone()),
            Some((method, None)) => method.request([kind.payload().data(self.seed, seq)]),
            None => Err(SchemaError::Name {
                method: kind.name().to_owned(),
            }),
        }
    }
}

/// Why no answer came back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// The call failed.
    #[error(transparent)]
    Grpc(#[from] GrpcError),
    /// The request is none.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

impl Describe for CallError {
    fn verdict(&self) -> Verdict {
        match self {
            CallError::Grpc(error) => error.verdict(),
            CallError::Schema(_) => Verdict::Failed("request"),
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        if let CallError::Grpc(error) = self {
            error.details(into);
        }
    }
}
