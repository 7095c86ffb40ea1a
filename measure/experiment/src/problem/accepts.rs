//! Whether a JSON schema accepts a value: as much of it as the schemas here use, and nothing else.

use serde_json::{Map, Value};

/// Whether `schema`, of which `root` holds the definitions, accepts `value`.
pub(super) fn accepts(root: &Value, schema: &Value, value: &Value) -> bool {
    let Value::Object(schema) = schema else {
        return schema == &Value::Bool(true);
    };
    schema
        .iter()
        .all(|(keyword, rule)| keep(root, schema, (keyword, rule), value))
}

fn keep(root: &Value, schema: &Map<String, Value>, rule: (&str, &Value), value: &Value) -> bool {
    let (keyword, rule) = rule;
    let count = |rule: &Value| {
        let rules = rule.as_array().unwrap().iter();
        rules.filter(|rule| accepts(root, rule, value)).count()
    };
    match keyword {
        "$schema" | "$defs" | "title" | "description" | "format" | "default" => true,
        "$ref" => {
            let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
            accepts(root, &root["$defs"][name], value)
        }
        "type" => match rule {
            Value::Array(types) => types.iter().any(|one| is(value, one)),
            one => is(value, one),
        },
        "const" => value == rule,
        "enum" => rule.as_array().unwrap().contains(value),
        "anyOf" => count(rule) > 0,
        "oneOf" => count(rule) == 1,
        "minimum" => value
            .as_f64()
            .is_none_or(|value| value >= rule.as_f64().unwrap()),
        "maximum" => value
            .as_f64()
            .is_none_or(|value| value <= rule.as_f64().unwrap()),
        "exclusiveMinimum" => value
            .as_f64()
            .is_none_or(|value| value > rule.as_f64().unwrap()),
        "multipleOf" => value
            .as_u64()
            .is_none_or(|value| value.is_multiple_of(rule.as_u64().unwrap())),
        "not" => !accepts(root, rule, value),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| accepts(root, rule, item))),
        "required" => value.as_object().is_none_or(|fields| {
            let mut names = rule.as_array().unwrap().iter();
            names.all(|name| fields.contains_key(name.as_str().unwrap()))
        }),
        "properties" => value.as_object().is_none_or(|fields| {
            let known =
                |(name, value)| rule.get(name).is_none_or(|rule| accepts(root, rule, value));
            fields.iter().all(known)
        }),
        "additionalProperties" => value.as_object().is_none_or(|fields| {
            let known = |name: &String| schema["properties"].get(name).is_some();
            rule == &Value::Bool(true) || fields.keys().all(known)
        }),
        other => panic!("the keyword {other} is not known here"),
    }
}

fn is(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the type {other} is not known here"),
    }
}
