//! What is asked of a model.

use bytes::Bytes;
use openloop_workload::prompts::{Message, Prompt, Role, Vocabulary};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Which interface of the server is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Api {
    /// `/v1/chat/completions`, with the prompt as messages.
    #[default]
    Chat,
    /// `/v1/completions`, with the prompt as text.
    Text,
    /// `/v1/completions`, with the prompt as token ids: exactly as many as asked for, without a tokenizer on either side.
    TokenIds(Vocabulary),
}

impl Api {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Api::Chat => "/v1/chat/completions",
            Api::Text | Api::TokenIds(_) => "/v1/completions",
        }
    }
}

/// A request that is ready to be sent any number of times; cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) http: openloop_http::Request,
    /// What was asked for; none where the body was made elsewhere.
    pub(crate) prompt: Option<Arc<Prompt>>,
}

impl Request {
    /// The request as HTTP.
    #[must_use]
    pub fn http(&self) -> &openloop_http::Request {
        &self.http
    }

    /// The prompt that it was made of.
    #[must_use]
    pub fn prompt(&self) -> Option<&Prompt> {
        self.prompt.as_deref()
    }
}

/// Why a field may not be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// It is the client's to set.
    #[error("the field \"{0}\" is set by the client: leave it out")]
    OwnField(String),
    /// Several answers in one stream.
    #[error(
        "\"{0}\" asks for several answers in one stream, whose gaps cannot be told apart: send several requests instead"
    )]
    SeveralAnswers(String),
}

/// The fields that every request of a client has.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) model: String,
    pub(crate) api: Api,
    pub(crate) stream: bool,
    pub(crate) usage: bool,
    pub(crate) limit: &'static str,
    pub(crate) fields: Map<String, Value>,
}

const OWN: [&str; 7] = [
    "model",
    "messages",
    "prompt",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Spoken>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<Written>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct Spoken {
    role: &'static str,
    content: String,
}

impl From<Message> for Spoken {
    fn from(message: Message) -> Self {
        Spoken {
            role: message.role.as_str(),
            content: message.text,
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Ids(Vec<u32>),
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl Template {
    /// # Errors
    /// Where a field is the client's own, or asks for what cannot be measured.
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        for (name, value) in &self.fields {
            if OWN.contains(&name.as_str()) {
                return Err(ParameterError::OwnField(name.clone()));
            }
            let is_one = value.as_u64() == Some(1);
            if ["n", "best_of"].contains(&name.as_str()) && !is_one {
                return Err(ParameterError::SeveralAnswers(format!("{name}: {value}")));
            }
        }
        Ok(())
    }

    /// The body of the request for a prompt, with these texts in the places of the model's own, as far as there are any.
    pub(crate) fn body(&self, prompt: &Prompt, answers: &[Option<String>]) -> Bytes {
        let mut fields = self.fields.clone();
        fields.insert(self.limit.to_owned(), prompt.output_tokens.into());
        let (messages, written) = match self.api {
            Api::Chat => {
                let messages = with_answers(prompt, answers).map(Spoken::from);
                (Some(messages.collect()), None)
            }
            Api::Text if answers.is_empty() => (None, Some(Written::Text(prompt.text()))),
            Api::Text => {
                let texts: Vec<_> = with_answers(prompt, answers).map(|one| one.text).collect();
                (None, Some(Written::Text(texts.join(" "))))
            }
            Api::TokenIds(ids) => (None, Some(Written::Ids(prompt.token_ids(ids)))),
        };
        let body = Body {
            model: &self.model,
            messages,
            prompt: written,
            stream: self.stream,
            stream_options: (self.stream && self.usage).then_some(StreamOptions {
                include_usage: true,
            }),
            fields: &fields,
        };
        // Text, numbers and a map with text for keys: nothing in it can fail.
        Bytes::from(serde_json::to_vec(&body).unwrap_or_default())
    }
}

/// The messages of a prompt, those of the model as it really answered.
fn with_answers(prompt: &Prompt, answers: &[Option<String>]) -> impl Iterator<Item = Message> {
    let mut answers = answers.iter();
    prompt.messages().into_iter().map(move |mut message| {
        if message.role == Role::Assistant
            && let Some(Some(answer)) = answers.next()
        {
            message.text.clone_from(answer);
        }
        message
    })
}
