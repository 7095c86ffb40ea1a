//! `--mix`: kinds of request from a file.

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, Request};
use openloop_workload::mix::{Field, FieldsSource, Kind};
use openloop_workload::traces::{Trace, TraceRequest};
use openloop_workload::{Fields, Keys, Mix, Template};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Kinds of request, as a file says them.
#[derive(Debug)]
pub(crate) struct HttpMix {
    file: PathBuf,
    mix: Mix<HttpKind>,
    choice: Choice,
}

/// What says of which kind a request is.
#[derive(Debug)]
enum Choice {
    /// Chance, by the weights.
    Weights,
    /// The same, though there is a trace with kinds, of which these are some.
    WeightsBeside(Arc<str>),
    /// The rows of a trace: of each request the place of its kind.
    Rows(Box<[usize]>),
}

/// What makes a request of one kind.
#[derive(Debug)]
pub(crate) struct HttpKind {
    method: Method,
    url: Template,
    headers: Vec<(HeaderName, Template)>,
    body: Template,
    fields: Fields,
}

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    kind: Mix<Table>,
}

/// A `[[kind]]`, but for its name, weight and demand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    method: Option<String>,
    url: Template,
    #[serde(default)]
    headers: BTreeMap<String, Template>,
    body: Option<Template>,
    #[serde(default)]
    fields: FieldsSource,
}

impl HttpMix {
    /// The kinds in `file`, each of which also sends `headers` but for those that it has itself. Files of values are
    /// beside the file. Request number k replays row k of `trace`, and is of the kind that the row names, where the
    /// trace has kinds of these names.
    ///
    /// # Errors
    /// All that can be told without knowing the server: the message has the file, the kind and the field.
    pub(crate) fn read(
        file: &Path,
        headers: &[(String, String)],
        trace: Option<&Trace>,
    ) -> Result<Self, String> {
        let named = |why: String| format!("{}: {why}", file.display());
        let text = std::fs::read_to_string(file)
            .map_err(|error| named(format!("cannot be read: {error}")))?;
        let settings: Settings = toml::from_str(&text)
            .map_err(|error| named(error.to_string().trim_end().to_owned()))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let mix = settings.kind.try_map(|kind, mut table| {
            for (name, value) in headers {
                let own = table
                    .headers
                    .keys()
                    .any(|own| own.eq_ignore_ascii_case(name));
                if !own {
                    table.headers.insert(name.clone(), Template::new(value));
                }
            }
            HttpKind::new(table, folder, trace)
                .map_err(|why| named(format!("the kind \"{kind}\": {why}")))
        })?;
        let mix = HttpMix {
            file: file.to_owned(),
            mix,
            choice: Choice::Weights,
        };
        match trace {
            Some(trace) => mix.following(trace),
            None => Ok(mix),
        }
    }

    /// The same kinds as `trace` asks for them: row by row, if its rows have kinds of these names, else by weight.
    fn following(mut self, trace: &Trace) -> Result<Self, String> {
        let place = |row: &TraceRequest| {
            let name = row.kind.as_deref()?;
            self.mix.kinds().iter().position(|kind| kind.name() == name)
        };
        let rows: Vec<_> = trace.requests().iter().map(place).collect();
        if rows.iter().all(Option::is_none) {
            let named = trace.requests().iter().find_map(|row| row.kind.clone());
            self.choice = named.map_or(Choice::Weights, Choice::WeightsBeside);
            return Ok(self);
        }
        let Some(rows) = rows.iter().copied().collect::<Option<Box<[_]>>>() else {
            let strange = rows
                .iter()
                .zip(trace.requests())
                .find(|(place, _)| place.is_none());
            return Err(self.no_kind_of(strange.map(|(_, row)| row)));
        };
        let mut counts = vec![0_u64; self.mix.kinds().len()];
        rows.iter().for_each(|&kind| counts[kind] += 1);
        let mut counts = counts.into_iter();
        let as_counted = |_: &str| counts.next().unwrap_or_default() as f64;
        self.mix = self
            .mix
            .reweighted(as_counted)
            .map_err(|error| error.to_string())?;
        self.choice = Choice::Rows(rows);
        Ok(self)
    }

    fn no_kind_of(&self, row: Option<&TraceRequest>) -> String {
        let kinds: Vec<_> = self.mix.kinds().iter().map(Kind::name).collect();
        let what = match row.and_then(|row| row.kind.as_deref()) {
            Some(kind) => format!("asks for \"{kind}\""),
            None => "has no kind".to_owned(),
        };
        format!(
            "{}: line {} of the trace {what}, and others ask for kinds of the mix: give every row one of {}, or leave the column out, so that the weights choose",
            self.file.display(),
            row.map_or(0, |row| row.line),
            kinds.join(", ")
        )
    }

    /// What says of which kind a request is, in words.
    pub(crate) fn chosen(&self) -> String {
        match &self.choice {
            Choice::Weights => "by weight".to_owned(),
            Choice::WeightsBeside(kind) => {
                format!("by weight, as none of them is one of the trace (such as \"{kind}\")")
            }
            Choice::Rows(_) => "as the trace names them".to_owned(),
        }
    }

    /// The first request of each kind as it would be sent, to be checked by whoever knows the server.
    ///
    /// # Errors
    /// The first that `check` gives, with the file and the kind.
    pub(crate) fn check<E: ToString>(
        &self,
        seed: u64,
        mut check: impl FnMut(Request<Bytes>) -> Result<(), E>,
    ) -> Result<(), String> {
        for kind in self.mix.kinds() {
            let request = kind.payload().request(seed, 0);
            let checked = request
                .map_err(|error| error.to_string())
                .and_then(|request| check(request).map_err(|error| error.to_string()));
            checked.map_err(|why| {
                let file = self.file.display();
                let (name, url) = (kind.name(), kind.payload().url.text());
                format!("{file}: the kind \"{name}\", url = \"{url}\": {why}")
            })?;
        }
        Ok(())
    }

    /// The kind of request number `seq`, and its place.
    pub(crate) fn pick(&self, seed: u64, seq: u64) -> (usize, &Kind<HttpKind>) {
        let place = match &self.choice {
            Choice::Rows(rows) => usize::try_from(seq).ok().and_then(|row| rows.get(row)),
            Choice::Weights | Choice::WeightsBeside(_) => None,
        };
        let place = place.map_or_else(|| self.mix.pick(seed, seq).index, |&place| place);
        (place, &self.mix.kinds()[place])
    }

    /// The keys in the fields of all kinds.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Keys> {
        let kinds = self.mix.kinds().iter();
        let fields = kinds.flat_map(|kind| kind.payload().fields.iter());
        fields.filter_map(|(_, field)| match field {
            Field::Keys(keys) => Some(keys),
            _ => None,
        })
    }

    pub(crate) fn mix(&self) -> &Mix<HttpKind> {
        &self.mix
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }
}

impl HttpKind {
    fn new(table: Table, folder: &Path, trace: Option<&Trace>) -> Result<Self, String> {
        let method = match (&table.method, &table.body) {
            (Some(method), _) => method.as_str(),
            (None, Some(_)) => "POST",
            (None, None) => "GET",
        };
        let method = Method::from_bytes(method.as_bytes())
            .map_err(|_| format!("method = \"{method}\" is no method: write one, such as PUT"))?;
        let header = |(name, value): (String, Template)| match HeaderName::try_from(&name) {
            Ok(known) => Ok((known, value)),
            Err(_) => Err(format!(
                "headers: \"{name}\" is no name of a header: use letters, digits and -"
            )),
        };
        let headers: Result<_, String> = table.headers.into_iter().map(header).collect();
        let kind = HttpKind {
            method,
            url: table.url,
            headers: headers?,
            body: table.body.unwrap_or_else(|| Template::new("")),
            fields: table
                .fields
                .load_with(folder, trace)
                .map_err(|error| error.to_string())?,
        };
        kind.check()?;
        Ok(kind)
    }

    fn check(&self) -> Result<(), String> {
        check_server(self.url.text())?;
        self.check_places("url", &self.url, |text| {
            let fits = PathAndQuery::try_from(format!("/{text}")).is_ok() && !text.contains('#');
            (!fits).then_some("a URL: write what is no letter or digit as % and two hex digits")
        })?;
        for (name, value) in &self.headers {
            self.check_places(&format!("headers.{name}"), value, |text| {
                let fits = HeaderValue::try_from(text).is_ok();
                (!fits).then_some("a header: leave line breaks and other control characters out")
            })?;
        }
        self.check_places("body", &self.body, |_| None)?;
        match self.fields.unused(self.templates()).as_slice() {
            [] => Ok(()),
            [unused, ..] => Err(format!(
                "the field \"{unused}\" stands nowhere: write {{{unused}}} in the url, a header or the body, or leave it out"
            )),
        }
    }

    /// Every place must be a field's, and of a choice every text must be right where it is put: `unfit` says what it
    /// cannot be a part of.
    fn check_places(
        &self,
        part: &str,
        template: &Template,
        unfit: impl Fn(&str) -> Option<&'static str>,
    ) -> Result<(), String> {
        for place in template.places() {
            let Some((_, field)) = self.fields.iter().find(|(name, _)| *name == place) else {
                let known: Vec<_> = self.fields.iter().map(|(name, _)| name).collect();
                let known = match known.as_slice() {
                    [] => "there are none".to_owned(),
                    known => format!("there are {}", known.join(", ")),
                };
                return Err(format!(
                    "{part} has the place {{{place}}} and no field is called so ({known}): add it, or, if the braces are meant as they are, add {place} = {{ choice = [\"{{{place}}}\"] }}"
                ));
            };
            let Field::Choice(choice) = field else {
                continue;
            };
            for (text, _) in choice.texts() {
                if let Some(what) = unfit(text) {
                    return Err(format!(
                        "the field \"{place}\" puts \"{}\" into {part}, which is no part of {what}",
                        text.escape_debug()
                    ));
                }
            }
        }
        Ok(())
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        let headers = self.headers.iter().map(|(_, value)| value);
        headers.chain([&self.url, &self.body])
    }

    /// Whether all requests of the kind are the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.fields.is_empty()
    }

    /// Request number `seq` of a run with this seed.
    ///
    /// # Errors
    /// When the texts make no request.
    pub(crate) fn request(&self, seed: u64, seq: u64) -> Result<Request<Bytes>, http::Error> {
        let render = |template| self.fields.render(template, seed, seq);
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(render(&self.url));
        for (name, value) in &self.headers {
            request = request.header(name, HeaderValue::try_from(render(value))?);
        }
        request.body(Bytes::from(render(&self.body)))
    }
}

/// The connections lead to one server, whose name is no matter of chance.
fn check_server(url: &str) -> Result<(), String> {
    let Some((_, rest)) = url.split_once("://").filter(|_| !url.starts_with('/')) else {
        return match url.starts_with('/') {
            true => Ok(()),
            false => Err(format!(
                "url = \"{url}\" is neither a path, which starts with /, nor a whole URL"
            )),
        };
    };
    let server = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match Template::new(server).places().next() {
        None => Ok(()),
        Some(place) => Err(format!(
            "url = \"{url}\" is another server for each {place}: write {{{place}}} behind the host, or the path alone"
        )),
    }
}
