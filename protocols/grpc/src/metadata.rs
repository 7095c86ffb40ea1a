//! Metadata: the headers of a call that are the user's.

use http::header::{CONNECTION, CONTENT_TYPE, HOST, TE, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Why something cannot be sent as metadata.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// The name does not parse.
    #[error("{name:?} is not a name of metadata: take lower-case letters, digits, - _ and .")]
    Name {
        /// What was given.
        name: String,
    },
    /// The protocol or the client sets it.
    #[error("the metadata {name:?} is set by the client; leave it out{instead}")]
    Reserved {
        /// What was given.
        name: String,
        /// What to do instead, where there is something.
        instead: &'static str,
    },
    /// The value does not parse.
    #[error("the value of the metadata {name:?} holds a character that none may hold")]
    Value {
        /// The name.
        name: String,
    },
    /// Binary values are written in base64.
    #[error(
        "the value of the metadata {name:?} is not base64, in which values of names with -bin are written"
    )]
    Binary {
        /// The name.
        name: String,
    },
}

/// Adds one; those of a name are kept in order.
pub(crate) fn append(
    headers: &mut HeaderMap,
    name: &str,
    value: &str,
) -> Result<(), MetadataError> {
    let named = || name.to_owned();
    let parsed = HeaderName::try_from(name).map_err(|_| MetadataError::Name { name: named() })?;
    let reserved = [
        TE,
        CONTENT_TYPE,
        HOST,
        CONNECTION,
        TRANSFER_ENCODING,
        UPGRADE,
    ];
    if reserved.contains(&parsed) || parsed.as_str().starts_with("grpc-") {
        let instead = match parsed.as_str() {
            "grpc-timeout" => ", and set the deadline",
            "host" => ", and set the authority",
            _ => "",
        };
        return Err(MetadataError::Reserved {
            name: named(),
            instead,
        });
    }
    if parsed.as_str().ends_with("-bin") {
        let text = value.trim_end_matches('=');
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/".contains(&byte);
        if !text.bytes().all(is_base64) || text.len() % 4 == 1 {
            return Err(MetadataError::Binary { name: named() });
        }
    }
    let is_text = |byte: u8| (0x20..=0x7e).contains(&byte);
    if !value.bytes().all(is_text) {
        return Err(MetadataError::Value { name: named() });
    }
    let value = HeaderValue::try_from(value).map_err(|_| MetadataError::Value { name: named() })?;
    headers.append(parsed, value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_sent_is_refused_by_name() {
        let refused = |name: &str, value: &str| {
            let error = append(&mut HeaderMap::new(), name, value).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
            error
        };
        assert!(matches!(refused("a b", ""), MetadataError::Name { .. }));
        assert!(matches!(
            refused("grpc-timeout", "1S"),
            MetadataError::Reserved { .. }
        ));
        assert!(matches!(refused("te", ""), MetadataError::Reserved { .. }));
        assert!(matches!(refused("a", "\n"), MetadataError::Value { .. }));
        assert!(matches!(refused("a", "ä"), MetadataError::Value { .. }));
        assert!(matches!(
            refused("a-bin", "?"),
            MetadataError::Binary { .. }
        ));
        let mut headers = HeaderMap::new();
        for (name, value) in [("a-bin", "AAE="), ("b", "x y"), ("b", "z")] {
            append(&mut headers, name, value).unwrap();
        }
        assert_eq!(headers.get_all("b").iter().count(), 2);
    }
}
