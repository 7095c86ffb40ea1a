//! Which slot of a cluster a command belongs to, and who has it.

use crate::RedisErrorKind;
use redis::{Arg, Cmd, Value};
use std::ops::RangeInclusive;

/// The number of slots of a cluster.
pub(crate) const SLOTS: usize = 16_384;

/// Host and port of a node.
pub(crate) type Address = (String, u16);

/// Slots and the address of their owner.
pub(crate) type Owned = (RangeInclusive<u16>, Address);

/// The slot of a key: CRC16 of it, or of its part in the first braces, modulo 16384.
///
/// Source: Redis cluster specification, "Key distribution model" and "Hash tags".
pub(crate) fn of_key(key: &[u8]) -> u16 {
    crc16(tag(key).unwrap_or(key)) % SLOTS as u16
}

fn tag(key: &[u8]) -> Option<&[u8]> {
    let inner = &key[key.iter().position(|byte| *byte == b'{')? + 1..];
    let end = inner.iter().position(|byte| *byte == b'}')?;
    Some(&inner[..end]).filter(|tag| !tag.is_empty())
}

/// CRC-16/XMODEM: polynomial 0x1021, from 0, nothing reflected.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            let shifted = crc << 1;
            if crc & 0x8000 == 0 {
                shifted
            } else {
                shifted ^ 0x1021
            }
        })
    })
}

/// Where the keys of a command stand among its words.
#[derive(Clone, Copy)]
struct Places {
    /// A key that the result goes to, before the others.
    destination: Option<usize>,
    first: usize,
    last: usize,
    step: usize,
}

/// The first key of a command. For a command that is not known here it is the first argument, as for most: where that is
/// wrong a node redirects, which costs a round trip and is counted.
pub(crate) fn key_of(command: &Cmd) -> Option<&[u8]> {
    let places = places(command)?;
    words(command).nth(places.destination.unwrap_or(places.first))
}

/// All keys of a command, as far as it is known here.
pub(crate) fn keys_of(command: &Cmd) -> impl Iterator<Item = &[u8]> {
    let places = places(command).into_iter();
    let places = places.flat_map(|places| {
        let others = (places.first..=places.last).step_by(places.step);
        places.destination.into_iter().chain(others)
    });
    places.filter_map(|place| words(command).nth(place))
}

fn words(command: &Cmd) -> impl Iterator<Item = &[u8]> {
    command.args_iter().map(|word| match word {
        Arg::Simple(word) => word,
        _ => &[],
    })
}

/// Source: `COMMAND INFO` of Redis 7.
fn places(command: &Cmd) -> Option<Places> {
    let count = words(command).count();
    let name = words(command).next()?.to_ascii_uppercase();
    let between = |first: usize, last: usize, step| {
        let destination = None;
        (first <= last && first < count).then_some(Places {
            destination,
            first,
            last,
            step,
        })
    };
    // Words there are behind the number of keys at `place`, and before them.
    let counted = |place: usize| {
        let number = std::str::from_utf8(words(command).nth(place)?).ok()?;
        between(place + 1, place.checked_add(number.parse().ok()?)?, 1)
    };
    let last = count.saturating_sub(1);
    match name.as_slice() {
        b"DEL" | b"EXISTS" | b"MGET" | b"PFCOUNT" | b"PFMERGE" | b"SDIFF" | b"SDIFFSTORE"
        | b"SINTER" | b"SINTERSTORE" | b"SUNION" | b"SUNIONSTORE" | b"TOUCH" | b"UNLINK" => {
            between(1, last, 1)
        }
        b"MSET" | b"MSETNX" => between(1, last, 2),
        b"BLPOP" | b"BRPOP" | b"BZPOPMAX" | b"BZPOPMIN" => between(1, last.saturating_sub(1), 1),
        b"BLMOVE" | b"BRPOPLPUSH" | b"COPY" | b"GEOSEARCHSTORE" | b"LCS" | b"LMOVE" | b"RENAME"
        | b"RENAMENX" | b"RPOPLPUSH" | b"SMOVE" | b"ZRANGESTORE" => between(1, 2, 1),
        b"EVAL" | b"EVALSHA" | b"EVAL_RO" | b"EVALSHA_RO" | b"FCALL" | b"FCALL_RO" | b"BLMPOP"
        | b"BZMPOP" => counted(2),
        b"LMPOP" | b"ZMPOP" | b"SINTERCARD" | b"ZDIFF" | b"ZINTER" | b"ZINTERCARD" | b"ZUNION" => {
            counted(1)
        }
        b"ZDIFFSTORE" | b"ZINTERSTORE" | b"ZUNIONSTORE" => Some(Places {
            destination: Some(1),
            ..counted(2)?
        }),
        b"BITOP" => between(2, last, 1),
        b"DEBUG" | b"MEMORY" | b"OBJECT" | b"XGROUP" | b"XINFO" => between(2, 2, 1),
        b"XREAD" | b"XREADGROUP" => {
            let streams = words(command).position(|word| word.eq_ignore_ascii_case(b"STREAMS"))?;
            // Each has an identifier behind all of them.
            between(streams + 1, streams + (last - streams) / 2, 1)
        }
        _ => between(1, 1, 1),
    }
}

/// The ranges of slots and the address of the owner of each, from what `CLUSTER SLOTS` answers; a node without a name
/// is at `answered_by`.
pub(crate) fn ranges(answer: &Value, answered_by: &str) -> Result<Vec<Owned>, RedisErrorKind> {
    let wrong = || RedisErrorKind::Malformed("CLUSTER SLOTS answered something else".to_owned());
    fn array(value: Option<&Value>) -> Option<&[Value]> {
        match value {
            Some(Value::Array(values)) => Some(values),
            _ => None,
        }
    }
    let number = |value: Option<&Value>| match value {
        Some(Value::Int(number)) => u16::try_from(*number).map_err(|_| wrong()),
        _ => Err(wrong()),
    };
    let range = |range: &Value| {
        let range = array(Some(range)).ok_or_else(wrong)?;
        let owner = array(range.get(2)).ok_or_else(wrong)?;
        let host = match owner.first() {
            Some(Value::BulkString(host)) if !host.is_empty() => {
                String::from_utf8_lossy(host).into_owned()
            }
            _ => answered_by.to_owned(),
        };
        let slots = number(range.first())?..=number(range.get(1))?;
        Ok((slots, (host, number(owner.get(1))?)))
    };
    let all = array(Some(answer)).ok_or_else(wrong)?;
    all.iter().map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_specification() {
        // The check value of CRC-16/XMODEM, and slots as `CLUSTER KEYSLOT` of Redis 7 gives them.
        assert_eq!(crc16(b"123456789"), 0x31c3);
        for (key, slot) in [
            ("foo", 12_182),
            ("06S", 0),
            ("", 0),
            ("{user1000}.following", 3443),
            ("{user1000}.followers", 3443),
            ("foo{}{bar}", 8363),
            ("foo{{bar}}zap", 4015),
        ] {
            assert_eq!(of_key(key.as_bytes()), slot, "{key}");
        }
    }

    #[test]
    fn the_first_key_of_a_command_is_found() {
        for (words, key) in [
            ("GET a", Some("a")),
            ("set a b", Some("a")),
            ("EVALSHA h 2 a b c", Some("a")),
            ("EVAL s 0 c", None),
            ("XREAD COUNT 2 streams a 0", Some("a")),
            ("ZUNION 2 a b", Some("a")),
            ("OBJECT ENCODING a", Some("a")),
            ("ZUNIONSTORE a 2 b c", Some("a")),
            ("PING", None),
        ] {
            let command = command(words);
            assert_eq!(key_of(&command), key.map(str::as_bytes), "{words}");
        }
    }

    #[test]
    fn all_keys_of_a_command_are_found() {
        for (words, keys) in [
            ("GET a", "a"),
            ("MGET a b c", "a b c"),
            ("MSET a 1 b 2", "a b"),
            ("BLPOP a b 0", "a b"),
            ("RENAME a b", "a b"),
            ("EVALSHA h 2 a b c", "a b"),
            ("EVAL s 99999999999999999999 a", ""),
            ("ZUNIONSTORE a 2 b c WEIGHTS 1 2", "a b c"),
            ("BITOP AND a b c", "a b c"),
            ("XREAD COUNT 2 STREAMS a b 0 0", "a b"),
            ("XREAD STREAMS", ""),
            ("MGET", ""),
            ("PING", ""),
        ] {
            let command = command(words);
            let found: Vec<_> = keys_of(&command).collect();
            let keys: Vec<_> = keys.split_whitespace().map(str::as_bytes).collect();
            assert_eq!(found, keys, "{words}");
        }
    }

    fn command(words: &str) -> Cmd {
        let mut command = Cmd::new();
        for word in words.split(' ') {
            command.arg(word);
        }
        command
    }

    #[test]
    fn what_cluster_slots_answers_is_ranges_with_owners() {
        let wire = "*2\r\n*3\r\n:0\r\n:5\r\n*2\r\n$9\r\n127.0.0.1\r\n:7000\r\n*3\r\n:6\r\n:9\r\n*2\r\n$0\r\n\r\n:7001\r\n";
        let answer = redis::parse_redis_value(wire.as_bytes()).unwrap();
        assert_eq!(
            ranges(&answer, "h").unwrap(),
            [
                (0..=5, ("127.0.0.1".to_owned(), 7000)),
                (6..=9, ("h".to_owned(), 7001)),
            ]
        );
        assert!(ranges(&Value::Okay, "h").is_err());
    }
}
