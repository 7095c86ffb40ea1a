//! Whether the server has the model.

use super::InferenceArgs;
use super::watch::Body;
use openloop_http::{Connections, Http, Tls};
use std::time::Duration;

/// How long the list is waited for.
const LIMIT: Duration = Duration::from_secs(2);

#[derive(serde::Deserialize)]
struct List {
    data: Vec<Model>,
}

#[derive(serde::Deserialize)]
struct Model {
    id: String,
}

/// What the server says it has instead of the model that is asked for; `None` where it has it, or does not say.
pub(super) async fn instead(arguments: &InferenceArgs, tls: Option<Tls>) -> Option<Vec<String>> {
    let base = arguments.url.trim_end_matches('/');
    let url = format!("{}/v1/models", base.strip_suffix("/v1").unwrap_or(base));
    let mut http = arguments.as_who_asks(Http::builder(&url).connections(Connections::pool(1)));
    if let Some(tls) = tls {
        http = http.tls(tls);
    }
    let http = http.build().ok()?;
    let mut body = Body::default();
    let asked = http.stream(http.request(), &mut body);
    let reply = tokio::time::timeout(LIMIT, asked).await.ok()?.ok()?;
    if !reply.status().is_success() {
        return None;
    }
    let list: List = serde_json::from_slice(body.bytes()).ok()?;
    let names: Vec<String> = list.data.into_iter().map(|model| model.id).collect();
    (!names.is_empty() && !names.contains(&arguments.model)).then_some(names)
}
