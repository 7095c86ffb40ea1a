//! The classes under which the server's errors are counted.

use openloop_measurer::Verdict;

/// Those that a load test meets have a class of their own.
const KNOWN: &[(&str, &str)] = &[
    ("08P01", "pg_08P01"), // protocol violation; what PgBouncer says when it has no more connections
    ("22001", "pg_22001"), // a text is too long
    ("22003", "pg_22003"), // a number is out of range
    ("22P02", "pg_22P02"), // a text is not of the type
    ("23502", "pg_23502"), // not null
    ("23503", "pg_23503"), // foreign key
    ("23505", "pg_23505"), // unique
    ("23514", "pg_23514"), // check
    ("25006", "pg_25006"), // read-only transaction
    ("25P02", "pg_25P02"), // in a failed transaction
    ("25P03", "pg_25P03"), // idle in transaction too long
    ("26000", "pg_26000"), // a prepared statement is not there
    ("28000", "pg_28000"), // authorization
    ("28P01", "pg_28P01"), // password
    ("3D000", "pg_3D000"), // no such database
    ("40001", "pg_40001"), // serialization failure
    ("40P01", "pg_40P01"), // deadlock
    ("42501", "pg_42501"), // no privilege
    ("42601", "pg_42601"), // syntax
    ("42703", "pg_42703"), // no such column
    ("42P01", "pg_42P01"), // no such table
    ("53100", "pg_53100"), // disk full
    ("53200", "pg_53200"), // out of memory
    ("53300", "pg_53300"), // too many connections
    ("53400", "pg_53400"), // a configured limit
    ("55P03", "pg_55P03"), // a lock is not available
    ("57014", "pg_57014"), // cancelled
    ("57P01", "pg_57P01"), // shut down or terminated by an administrator
    ("57P02", "pg_57P02"), // crash of another backend
    ("57P03", "pg_57P03"), // starting up, shutting down
    ("57P05", "pg_57P05"), // idle too long
    ("58030", "pg_58030"), // the server's disk
];

/// The others are counted by their first two characters.
const CLASSES: &[(&str, &str)] = &[
    ("08", "pg_08xxx"),
    ("0A", "pg_0Axxx"),
    ("21", "pg_21xxx"),
    ("22", "pg_22xxx"),
    ("23", "pg_23xxx"),
    ("25", "pg_25xxx"),
    ("28", "pg_28xxx"),
    ("2B", "pg_2Bxxx"),
    ("34", "pg_34xxx"),
    ("3F", "pg_3Fxxx"),
    ("40", "pg_40xxx"),
    ("42", "pg_42xxx"),
    ("44", "pg_44xxx"),
    ("53", "pg_53xxx"),
    ("54", "pg_54xxx"),
    ("55", "pg_55xxx"),
    ("57", "pg_57xxx"),
    ("58", "pg_58xxx"),
    ("P0", "pg_P0xxx"),
    ("XX", "pg_XXxxx"),
];

/// The class of an error of the server: `pg_` and its SQLSTATE, or `pg_23xxx` by its first two characters where it is
/// none that a load test is likely to meet; `pg_other` where not even these are known.
#[must_use]
pub fn class(sqlstate: &str) -> &'static str {
    let known = KNOWN.iter().find(|(code, _)| *code == sqlstate);
    let by_class = || {
        CLASSES
            .iter()
            .find(|(class, _)| sqlstate.starts_with(class))
    };
    known
        .or_else(by_class)
        .map_or("pg_other", |(_, class)| class)
}

/// How an error of the server counts: as rejected where it has too many connections, and as failed otherwise.
#[must_use]
pub fn verdict(sqlstate: &str) -> Verdict {
    match sqlstate {
        "53300" => Verdict::Rejected(class(sqlstate)),
        _ => Verdict::Failed(class(sqlstate)),
    }
}

/// Whether the same transaction may succeed when it is run again: after a serialization failure or a deadlock, of which
/// it is the loser.
#[must_use]
pub fn is_retryable(sqlstate: &str) -> bool {
    matches!(sqlstate, "40001" | "40P01")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_code_is_its_own_class_and_the_rest_go_by_their_first_two_characters() {
        for (code, class) in KNOWN {
            assert_eq!(class.strip_prefix("pg_"), Some(*code));
        }
        assert_eq!(class("23001"), "pg_23xxx");
        assert_eq!(class("ZZ000"), "pg_other");
        assert_eq!(class(""), "pg_other");
        assert_eq!(verdict("53300"), Verdict::Rejected("pg_53300"));
        assert_eq!(verdict("57014"), Verdict::Failed("pg_57014"));
        assert!(is_retryable("40P01") && is_retryable("40001") && !is_retryable("23505"));
    }
}
