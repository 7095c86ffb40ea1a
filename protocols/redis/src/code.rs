//! How the server's error replies are counted.

use openloop_measurer::Verdict;
use redis::ServerError;

/// An error reply begins with a code in capitals. Those of Redis 7 and what each is counted as; `true` is rejected: the
/// server sheds load, or is not ready for it, and did nothing of the work.
const CODES: &[(&str, &str, bool)] = &[
    ("ASK", "redis_ask", false),
    ("BUSY", "redis_busy", true),
    ("BUSYGROUP", "redis_busygroup", false),
    ("BUSYKEY", "redis_busykey", false),
    ("CLUSTERDOWN", "redis_clusterdown", true),
    ("CROSSSLOT", "redis_crossslot", false),
    ("ERR", "redis_err", false),
    ("EXECABORT", "redis_execabort", false),
    ("LOADING", "redis_loading", true),
    ("MASTERDOWN", "redis_masterdown", true),
    ("MISCONF", "redis_misconf", false),
    ("MOVED", "redis_moved", false),
    ("NOAUTH", "redis_noauth", false),
    ("NOGROUP", "redis_nogroup", false),
    ("NOPERM", "redis_noperm", false),
    ("NOREPLICAS", "redis_noreplicas", true),
    ("NOSCRIPT", "redis_noscript", false),
    ("NOTBUSY", "redis_notbusy", false),
    ("OOM", "redis_oom", true),
    ("READONLY", "redis_readonly", false),
    ("TRYAGAIN", "redis_tryagain", true),
    ("UNBLOCKED", "redis_unblocked", false),
    ("UNKILLABLE", "redis_unkillable", false),
    ("WRONGPASS", "redis_wrongpass", false),
    ("WRONGTYPE", "redis_wrongtype", false),
];

/// What the server says to a connection beyond its `maxclients`, with the code `ERR`.
const MAX_CLIENTS: &str = "max number of clients reached";

/// How an error reply is counted: `Failed` or `Rejected`, with a class of its own for each code of Redis 7, such as
/// `redis_wrongtype`, and `redis_other` for what a module or a script may invent.
///
/// | code | counts as |
/// | --- | --- |
/// | `BUSY`, `CLUSTERDOWN`, `LOADING`, `MASTERDOWN`, `NOREPLICAS`, `OOM`, `TRYAGAIN` | rejected: the server sheds load, or is not ready for it |
/// | `ERR max number of clients reached` | rejected, as `redis_max_clients` |
/// | any other | failed |
#[must_use]
pub fn verdict(error: &ServerError) -> Verdict {
    of(error.code(), error.details())
}

pub(crate) fn of(code: &str, details: Option<&str>) -> Verdict {
    if code == "ERR" && details.is_some_and(|details| details.contains(MAX_CLIENTS)) {
        return Verdict::Rejected("redis_max_clients");
    }
    let known = CODES.binary_search_by(|(known, _, _)| (*known).cmp(code));
    match known.ok().and_then(|index| CODES.get(index)) {
        Some((_, class, true)) => Verdict::Rejected(class),
        Some((_, class, false)) => Verdict::Failed(class),
        None => Verdict::Failed("redis_other"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_in_order_and_their_classes_are_named_after_them() {
        assert!(CODES.is_sorted_by(|(one, ..), (other, ..)| one < other));
        for (code, class, _) in CODES {
            assert_eq!(*class, format!("redis_{}", code.to_lowercase()));
        }
    }

    #[test]
    fn a_server_that_sheds_load_rejects_and_any_other_error_fails() {
        let expected = [
            ("WRONGTYPE", None, Verdict::Failed("redis_wrongtype")),
            ("OOM", None, Verdict::Rejected("redis_oom")),
            ("LOADING", None, Verdict::Rejected("redis_loading")),
            ("BUSY", None, Verdict::Rejected("redis_busy")),
            ("BUSYKEY", None, Verdict::Failed("redis_busykey")),
            ("ERR", Some("syntax error"), Verdict::Failed("redis_err")),
            (
                "ERR",
                Some("max number of clients reached"),
                Verdict::Rejected("redis_max_clients"),
            ),
            ("MYMODULE", None, Verdict::Failed("redis_other")),
        ];
        for (code, details, verdict) in expected {
            assert_eq!(of(code, details), verdict, "{code}");
        }
    }
}
