//! A mix as a list of tables, for `serde`.

use super::{Kind, Mix};
use crate::Values;
use serde::de::{self, DeserializeSeed, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

impl<T: Serialize> Serialize for Mix<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.kinds.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Mix<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Mix::new(Vec::<Kind<T>>::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl<T: Serialize> Serialize for Kind<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Table<'a, T> {
            name: &'a str,
            weight: f64,
            #[serde(skip_serializing_if = "Option::is_none")]
            demand: Option<&'a Values>,
            #[serde(flatten)]
            payload: &'a T,
        }
        Table {
            name: self.name(),
            weight: self.weight(),
            demand: self.demand(),
            payload: self.payload(),
        }
        .serialize(serializer)
    }
}

/// `name`, `weight`, perhaps `demand`, and the fields of `T` beside them.
///
/// What `#[serde(flatten)]` would do, but that a field which `T` refuses stays refused: a misspelt one must not be
/// left out in silence.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Kind<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KindVisitor(PhantomData))
    }
}

struct KindVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for KindVisitor<T> {
    type Value = Kind<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a kind of request with its name and weight")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Kind<T>, A::Error> {
        let mut own = Own::default();
        let payload = T::deserialize(Rest { map, own: &mut own })?;
        let name = own.name.ok_or_else(|| de::Error::missing_field("name"))?;
        let weight = own
            .weight
            .ok_or_else(|| de::Error::missing_field("weight"))?;
        let kind = Kind::new(name, weight, payload);
        Ok(match own.demand {
            Some(demand) => kind.with_demand(demand),
            None => kind,
        })
    }
}

/// The fields of the kind itself.
#[derive(Default)]
struct Own {
    name: Option<String>,
    weight: Option<f64>,
    demand: Option<Values>,
}

/// The map without the kind's own fields, which are put aside as they come by.
struct Rest<'a, A> {
    map: A,
    own: &'a mut Own,
}

impl<'de, A: MapAccess<'de>> Rest<'_, A> {
    /// The next field that is not one of the kind's own.
    fn next(&mut self) -> Result<Option<String>, A::Error> {
        while let Some(field) = self.map.next_key::<String>()? {
            match field.as_str() {
                "name" => once(&mut self.own.name, "name", &mut self.map)?,
                "weight" => once(&mut self.own.weight, "weight", &mut self.map)?,
                "demand" => once(&mut self.own.demand, "demand", &mut self.map)?,
                _ => return Ok(Some(field)),
            }
        }
        Ok(None)
    }
}

fn once<'de, A: MapAccess<'de>, V: Deserialize<'de>>(
    slot: &mut Option<V>,
    field: &'static str,
    map: &mut A,
) -> Result<(), A::Error> {
    if slot.is_some() {
        return Err(de::Error::duplicate_field(field));
    }
    *slot = Some(map.next_value()?);
    Ok(())
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Rest<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(field) = self.next()? else {
            return Ok(None);
        };
        // What the payload would have had there is not all that a kind may have.
        let known = seed.deserialize(field.into_deserializer());
        known.map(Some).map_err(|error: A::Error| {
            let why = error.to_string();
            de::Error::custom(format!("{}, or `name`, `weight`, `demand`", why.trim_end()))
        })
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

impl<'de, A: MapAccess<'de>> Rest<'_, A> {
    /// A payload of no fields: nothing may be left.
    fn none(mut self) -> Result<(), A::Error> {
        match self.next()? {
            None => Ok(()),
            Some(field) => Err(de::Error::unknown_field(
                &field,
                &["name", "weight", "demand"],
            )),
        }
    }
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Rest<'_, A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        self.none()?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}
