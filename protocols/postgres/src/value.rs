//! Parameters of statements.

use bytes::{BufMut, Bytes, BytesMut};
use std::error::Error as StdError;
use std::fmt::Write as _;
use std::sync::Arc;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};

/// A parameter of a statement, sent apart from its SQL.
///
/// It takes the type that the statement gives its place: a whole number goes into an `integer` as into a `bigint`, a
/// `numeric` or a `text`. What is not of the place's own kind is sent as text, which the server parses as it does the
/// literals of SQL, so a text may be a `uuid` or a `timestamp` as well.
///
/// ```
/// # use openloop_postgres::Value;
/// let parameters: [Value; 3] = [7.into(), "a text".into(), Value::Null];
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value {
    /// NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text, or whatever the server parses it as.
    Text(Arc<str>),
    /// Bytes, for `bytea`.
    Bytes(Bytes),
    /// Whatever the client library can send.
    Other(Arc<dyn ToSql + Send + Sync>),
}

type Boxed = Box<dyn StdError + Sync + Send>;

impl Value {
    /// Whether the value is sent in the place's own binary form.
    fn is_binary(&self, ty: &Type) -> bool {
        match self {
            Value::Null | Value::Other(_) => true,
            Value::Bool(_) => *ty == Type::BOOL,
            Value::Int(_) => [Type::INT8, Type::INT4, Type::INT2, Type::OID].contains(ty),
            Value::Float(_) => [Type::FLOAT8, Type::FLOAT4].contains(ty),
            // Text has one form.
            Value::Text(_) => true,
            Value::Bytes(_) => *ty == Type::BYTEA,
        }
    }
}

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Boxed> {
        let binary = self.is_binary(ty);
        match self {
            Value::Null => return Ok(IsNull::Yes),
            Value::Other(value) => return value.to_sql_checked(ty, out),
            Value::Bool(value) if binary => out.put_u8(u8::from(*value)),
            Value::Bool(value) => write!(out, "{value}")?,
            Value::Int(value) if binary => put_int(*value, ty, out)?,
            Value::Int(value) => write!(out, "{value}")?,
            #[expect(clippy::cast_possible_truncation, reason = "the place is a float4")]
            Value::Float(value) if *ty == Type::FLOAT4 => out.put_f32(*value as f32),
            Value::Float(value) if binary => out.put_f64(*value),
            Value::Float(value) => write!(out, "{value}")?,
            Value::Text(text) => out.put_slice(text.as_bytes()),
            Value::Bytes(bytes) if binary => out.put_slice(bytes),
            Value::Bytes(_) => return Err(format!("bytes do not go into a {ty}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, ty: &Type) -> Format {
        match self {
            Value::Other(value) => value.encode_format(ty),
            Value::Text(_) => Format::Text,
            _ if self.is_binary(ty) => Format::Binary,
            _ => Format::Text,
        }
    }

    to_sql_checked!();
}

fn put_int(value: i64, ty: &Type, out: &mut BytesMut) -> Result<(), Boxed> {
    let too_large = |_| format!("{value} does not fit into {ty}");
    match *ty {
        Type::INT2 => out.put_i16(value.try_into().map_err(too_large)?),
        Type::INT4 => out.put_i32(value.try_into().map_err(too_large)?),
        Type::OID => out.put_u32(value.try_into().map_err(too_large)?),
        _ => out.put_i64(value),
    }
    Ok(())
}

macro_rules! from {
    ($($type:ty => $variant:ident),*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Value::$variant(value.into())
            }
        }
    )*};
}

from!(bool => Bool, i16 => Int, i32 => Int, u32 => Int, i64 => Int, f32 => Float, f64 => Float, &str => Text, String => Text, Bytes => Bytes, Vec<u8> => Bytes);

impl From<u64> for Value {
    /// A number above the largest `bigint` is sent as a text, which `numeric` takes.
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or_else(|_| Value::Text(value.to_string().into()), Value::Int)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(value: &Value, ty: &Type) -> (bool, Vec<u8>) {
        let mut out = BytesMut::new();
        value.to_sql(ty, &mut out).unwrap();
        let is_binary = matches!(value.encode_format(ty), Format::Binary);
        (is_binary, out.to_vec())
    }

    #[test]
    fn a_whole_number_takes_the_form_of_its_place() {
        let seven = Value::from(7_u64);
        assert_eq!(sent(&seven, &Type::INT2), (true, vec![0, 7]));
        assert_eq!(sent(&seven, &Type::INT4), (true, vec![0, 0, 0, 7]));
        assert_eq!(sent(&seven, &Type::INT8).1.len(), 8);
        assert_eq!(sent(&seven, &Type::NUMERIC), (false, b"7".to_vec()));
        assert_eq!(sent(&seven, &Type::TEXT), (false, b"7".to_vec()));
    }

    #[test]
    fn a_number_that_does_not_fit_is_an_error_and_not_another_number() {
        let mut out = BytesMut::new();
        let refused = Value::Int(3_000_000_000).to_sql(&Type::INT4, &mut out);
        assert_eq!(
            refused.err().unwrap().to_string(),
            "3000000000 does not fit into int4"
        );
        assert!(
            Value::from(vec![1_u8])
                .to_sql(&Type::INT4, &mut out)
                .is_err()
        );
        assert_eq!(
            sent(&Value::from(u64::MAX), &Type::NUMERIC),
            (false, b"18446744073709551615".to_vec())
        );
    }
}
