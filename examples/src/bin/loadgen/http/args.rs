//! The flags of `loadgen http`.

use super::HttpMix;
use crate::cli::LoadArgs;
use crate::connections::ConnectionsArg;
use crate::problem;
use clap::Args;
use openloop_http::Tls;
use openloop_workload::traces::Trace;
use openloop_workload::{Keys, Template};
use std::path::{Path, PathBuf};

/// What is asked of an HTTP service, and over which connections.
#[derive(Clone, Debug, Args)]
pub(crate) struct HttpArgs {
    /// Such as http://127.0.0.1:8080/items/{key}; {key} needs --keys. {nonce}, here, in a header or in the body, is another
    /// number in every run of an experiment, so that no cache knows the request. With --mix the server alone
    pub(crate) url: String,

    /// The method [default: GET, or POST with a --body]
    #[arg(long, help_heading = "Request")]
    pub(crate) method: Option<String>,

    /// A header as "name: value"; repeatable
    #[arg(long, value_name = "HEADER", value_parser = header, help_heading = "Request")]
    pub(crate) header: Vec<(String, String)>,

    /// The body, as it is written here
    #[arg(long, help_heading = "Request")]
    pub(crate) body: Option<String>,

    /// What stands for {key} in the URL, the headers and the body: uniform:N, sequential:N, zipf:N:S, zipf:N:80/20,
    /// hotspot:N:HOT:SHARE or latest:N:S:INSERTS, all told below; the same for the same --seed and request number
    #[arg(long, value_name = "LAW", help_heading = "Request")]
    pub(crate) keys: Option<Keys>,

    /// Several kinds of request, each with a weight, a URL, a body and fields to fill them: see
    /// examples/mixes/web_shop.toml. With --arrivals trace:FILE the rows of the trace choose the kinds, where it has kinds
    /// of these names. A --header is sent with every kind that has none of that name
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "body", "keys"], help_heading = "Request")]
    pub(crate) mix: Option<PathBuf>,

    /// Connections, opened before the run and shared; or per-in-flight: as many as there are requests in flight
    #[arg(
        long,
        value_name = "N|per-in-flight",
        default_value = "50",
        help_heading = "Connections"
    )]
    pub(crate) connections: ConnectionsArg,

    /// A new connection for each request, closed after it. How many a second --closed opens is not known before it
    /// runs: then this machine is only asked for a port for each user, and closed connections hold theirs for a while
    #[arg(long, conflicts_with = "connections", help_heading = "Connections")]
    pub(crate) connect_per_request: bool,

    /// HTTP/2: by prior knowledge, or by ALPN over TLS; many requests share a connection. Without it HTTP/1.1 is
    /// spoken, over https as well
    #[arg(long, help_heading = "Connections")]
    pub(crate) http2: bool,

    /// Trusts the certificates of this PEM file and no others
    #[arg(long, value_name = "FILE", help_heading = "Connections")]
    pub(crate) ca: Option<PathBuf>,

    /// Takes any certificate: for test servers only
    #[arg(long, conflicts_with = "ca", help_heading = "Connections")]
    pub(crate) insecure: bool,

    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or("write name: value, such as \"accept: text/html\"")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl HttpArgs {
    /// Puts what the problem says of the requests in the place of what the flags do not say.
    pub(crate) fn fill(&mut self) {
        let takes_mix = self.keys.is_none();
        let has_key = self.texts().any(|text| Template::new(text).has_key());
        let (mix, keys) = (&mut self.mix, &mut self.keys);
        problem::fill_requests(&self.load, takes_mix, has_key, mix, keys);
    }

    /// The kinds of request, if there are several; `trace` has a row for each request.
    pub(crate) fn mix(&self, trace: Option<&Trace>) -> Result<Option<HttpMix>, String> {
        let read = |file: &PathBuf| super::read_mix(file, &self.header, trace);
        self.mix.as_ref().map(read).transpose()
    }

    /// The method, given or not.
    pub(crate) fn method(&self) -> &str {
        match (&self.method, &self.body) {
            (Some(method), _) => method,
            (None, Some(_)) => "POST",
            (None, None) => "GET",
        }
    }

    /// The certificates to trust; `None` for those of this machine.
    pub(crate) fn tls(&self) -> Result<Option<Tls>, String> {
        crate::connections::tls(self.ca.as_deref(), self.insecure)
    }

    /// What the flags must be together.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.check_url()?;
        let threads = self.load.schedule.threads;
        if !self.connect_per_request {
            self.connections.check(threads)?;
        }
        if let Some(mix) = &self.mix {
            return self.check_server_alone(mix);
        }
        let is_used = self.texts().any(|text| Template::new(text).has_key());
        match (&self.keys, is_used) {
            (Some(keys), false) => Err(format!(
                "--keys {keys} has no effect: write {{key}} in the URL, a header or the body"
            )),
            (None, true) => Err(
                "{key} stands in the request and nothing says which keys there are: give --keys uniform:N or zipf:N:S"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    fn check_url(&self) -> Result<(), String> {
        let Some((_, rest)) = self.url.split_once("://") else {
            return Err(format!(
                "{:?} is not a URL: write it whole, as http://host:port/path",
                self.url
            ));
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if Template::new(authority).has_key() {
            return Err(format!(
                "{authority:?} would be another server for each key: write {{key}} behind the host"
            ));
        }
        Ok(())
    }

    /// Kinds have paths of their own: one in the URL as well would be left out in silence.
    fn check_server_alone(&self, mix: &Path) -> Result<(), String> {
        let (_, rest) = self.url.split_once("://").unwrap_or_default();
        let path = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
        if path.is_empty() || path == "/" {
            return Ok(());
        }
        Err(format!(
            "the kinds in {} have paths of their own: give the server alone, without {path}",
            mix.display()
        ))
    }

    /// All that can have places for something: the URL, the body, the headers.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let headers = self.header.iter().map(|(_, value)| value.as_str());
        [self.url.as_str()]
            .into_iter()
            .chain(self.body.as_deref())
            .chain(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use crate::exit::Status;
    use crate::http::HttpLoad;
    use crate::protocol::Protocol;
    use clap::Parser;

    fn parse(words: &[&str]) -> Result<HttpArgs, clap::Error> {
        let command = ["loadgen", "http"].iter().chain(words);
        Cli::try_parse_from(command).map(|cli| match cli.command {
            Command::Http(arguments) => *arguments,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_body_makes_it_a_post_unless_the_method_is_given() {
        let method = |words: &[&str]| parse(words).unwrap().method().to_owned();
        assert_eq!(method(&["http://a/"]), "GET");
        assert_eq!(method(&["http://a/", "--body", "x"]), "POST");
        assert_eq!(
            method(&["http://a/", "--body", "x", "--method", "PUT"]),
            "PUT"
        );
    }

    #[test]
    fn headers_are_read_as_they_are_written_on_the_wire() {
        let words = [
            "http://a/",
            "--header",
            "X-Time: 12:30",
            "--header",
            "empty:",
        ];
        assert_eq!(
            parse(&words).unwrap().header,
            [
                ("X-Time".to_owned(), "12:30".to_owned()),
                ("empty".to_owned(), String::new())
            ]
        );
        assert!(parse(&["http://a/", "--header", "no colon"]).is_err());
    }

    #[test]
    fn connections_are_a_number_or_follow_the_load() {
        let connections = |words: &[&str]| parse(words).map(|arguments| arguments.connections);
        assert_eq!(
            connections(&["http://a/"]).unwrap(),
            ConnectionsArg::Fixed(50)
        );
        let follow = ["http://a/", "--connections", "per-in-flight"];
        assert_eq!(connections(&follow).unwrap(), ConnectionsArg::PerInFlight);
        for bad in ["0", "-1", "many"] {
            let words = ["http://a/", "--connections", bad];
            assert_eq!(connections(&words).unwrap_err().exit_code(), 2, "{bad}");
        }
        let both = ["http://a/", "--connections", "5", "--connect-per-request"];
        assert!(parse(&both).is_err());
    }

    #[test]
    fn the_connections_lead_where_the_url_says_whatever_the_host_header_says() {
        for (url, endpoint) in [
            ("http://127.0.0.1:8080/{key}", ("127.0.0.1", 8080)),
            ("http://a", ("a", 80)),
            ("https://a/", ("a", 443)),
            ("http://[::1]/", ("::1", 80)),
        ] {
            let words = [url, "--header", "host: other.test:1", "--body", "{key}"];
            let keys = ["--keys", "uniform:5"];
            let load = HttpLoad::new(&parse(&[&words[..], &keys].concat()).unwrap(), None).unwrap();
            assert_eq!(load.endpoint(), endpoint, "{url}");
        }
    }

    #[test]
    fn what_makes_no_request_is_refused_before_anything_is_sent() {
        for (words, named) in [
            (&["not a url"][..], "not a url"),
            (&["http://"], "no host"),
            (&["/path"], "http://"),
            (&["ftp://a/"], "ftp"),
            (&["http://a/{key}"], "--keys"),
            (&["http://a/", "--keys", "uniform:5"], "{key}"),
            (&["http://{key}.a/", "--keys", "uniform:5"], "{key}.a"),
            (&["http://a/", "--method", "G T"], "G T"),
            (&["http://a/", "--header", "b d: c"], "b d"),
            (
                &["http://a/", "--header", "content-length: 5"],
                "content-length",
            ),
            (&["http://a/", "--ca", "/no/such.pem"], "/no/such.pem"),
            (&["http://a/", "--insecure"], "https"),
            (
                &["http://a/", "--http2", "--connections", "per-in-flight"],
                "HTTP/2",
            ),
            (
                &["http://a/", "--threads", "8", "--connections", "4"],
                "8 threads",
            ),
        ] {
            let failure = HttpLoad::new(&parse(words).unwrap(), None).unwrap_err();
            assert_eq!(failure.status(), Status::Usage, "{words:?}");
            let message = failure.to_string();
            assert!(message.contains(named), "{words:?}: {message}");
        }
    }
}
