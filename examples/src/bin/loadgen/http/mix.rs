//! `--mix`: kinds of request from a file.

use crate::kinds::{self, Kinds};
use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, Request};
use openloop_workload::mix::FieldsSource;
use openloop_workload::traces::Trace;
use openloop_workload::{Fields, Keys, Template};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Kinds of request, as a file says them.
pub(crate) type HttpMix = Kinds<HttpKind>;

/// What makes a request of one kind.
#[derive(Debug)]
pub(crate) struct HttpKind {
    method: Method,
    url: Template,
    headers: Vec<(HeaderName, Template)>,
    body: Template,
    fields: Fields,
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

/// The kinds in `file`, each of which also sends `headers` but for those that it has itself; see [`Kinds::read`].
///
/// # Errors
/// All that can be told without knowing the server: the message has the file, the kind and the field.
pub(crate) fn read(
    file: &Path,
    headers: &[(String, String)],
    trace: Option<&Trace>,
) -> Result<HttpMix, String> {
    Kinds::read(file, trace, |mut table: Table, folder| {
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
    })
}

impl HttpMix {
    /// The first request of each kind as it would be sent, to be checked by whoever knows the server.
    ///
    /// # Errors
    /// The first that `check` gives, with the file and the kind.
    pub(crate) fn check<E: ToString>(
        &self,
        seed: u64,
        mut check: impl FnMut(Request<Bytes>) -> Result<(), E>,
    ) -> Result<(), String> {
        for kind in self.mix().kinds() {
            let request = kind.payload().request(seed, 0);
            let checked = request
                .map_err(|error| error.to_string())
                .and_then(|request| check(request).map_err(|error| error.to_string()));
            checked.map_err(|why| {
                let file = self.file().display();
                let (name, url) = (kind.name(), kind.payload().url.text());
                format!("{file}: the kind \"{name}\", url = \"{url}\": {why}")
            })?;
        }
        Ok(())
    }

    /// The keys in the fields of all kinds.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Keys> {
        let kinds = self.mix().kinds().iter();
        kinds.flat_map(|kind| kinds::keys_of(&kind.payload().fields))
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
        kinds::check_places(&self.fields, "url", &self.url, |text| {
            let fits = PathAndQuery::try_from(format!("/{text}")).is_ok() && !text.contains('#');
            (!fits).then_some("a URL: write what is no letter or digit as % and two hex digits")
        })?;
        for (name, value) in &self.headers {
            kinds::check_places(&self.fields, &format!("headers.{name}"), value, |text| {
                let fits = HeaderValue::try_from(text).is_ok();
                (!fits).then_some("a header: leave line breaks and other control characters out")
            })?;
        }
        kinds::check_places(&self.fields, "body", &self.body, |_| None)?;
        let parts = "the url, a header or the body";
        kinds::check_unused(&self.fields, self.templates(), parts)
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
