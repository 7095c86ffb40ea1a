//! Messages from JSON.

use super::SchemaError;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use serde_json::Deserializer;

/// A message of this type, in the JSON form that the protocol buffers have.
pub(super) fn read(
    descriptor: MessageDescriptor,
    text: &str,
) -> Result<DynamicMessage, SchemaError> {
    let message = descriptor.full_name().to_owned();
    let wrong = |field: String, reason: String| SchemaError::Json {
        message: message.clone(),
        field,
        reason,
    };
    let mut reader = Deserializer::from_str(text);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut reader, &mut track);
    let read = DynamicMessage::deserialize(descriptor, tracked);
    let read = read.map_err(|error| {
        let path = track.path().to_string();
        let field = if path == "." { String::new() } else { path };
        wrong(field, error.to_string())
    })?;
    reader
        .end()
        .map_err(|error| wrong(String::new(), error.to_string()))?;
    Ok(read)
}
