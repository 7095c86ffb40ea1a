//! How status codes are counted.

use openloop_measurer::Verdict;
use tonic::Code;

/// The class of a status code: `"grpc_not_found"`.
#[must_use]
pub fn class(code: Code) -> &'static str {
    match code {
        Code::Ok => "grpc_ok",
        Code::Cancelled => "grpc_cancelled",
        Code::Unknown => "grpc_unknown",
        Code::InvalidArgument => "grpc_invalid_argument",
        Code::DeadlineExceeded => "grpc_deadline_exceeded",
        Code::NotFound => "grpc_not_found",
        Code::AlreadyExists => "grpc_already_exists",
        Code::PermissionDenied => "grpc_permission_denied",
        Code::ResourceExhausted => "grpc_resource_exhausted",
        Code::FailedPrecondition => "grpc_failed_precondition",
        Code::Aborted => "grpc_aborted",
        Code::OutOfRange => "grpc_out_of_range",
        Code::Unimplemented => "grpc_unimplemented",
        Code::Internal => "grpc_internal",
        Code::Unavailable => "grpc_unavailable",
        Code::DataLoss => "grpc_data_loss",
        Code::Unauthenticated => "grpc_unauthenticated",
    }
}

/// How an answer with this status is counted.
///
/// | status | counts as |
/// | --- | --- |
/// | `OK` | `Ok` |
/// | `RESOURCE_EXHAUSTED` | `Rejected("grpc_resource_exhausted")`: the server sheds load |
/// | any other | `Failed("grpc_unavailable")` and so on |
///
/// `UNAVAILABLE` is a failure and not load that was shed: servers and proxies send it for all kinds of trouble. It has
/// a class of its own, and what is not even sent by the server (a refused connection, a reset) has yet others.
#[must_use]
pub fn verdict(code: Code) -> Verdict {
    match code {
        Code::Ok => Verdict::Ok,
        Code::ResourceExhausted => Verdict::Rejected(class(code)),
        _ => Verdict::Failed(class(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_code_has_its_own_class_and_overload_is_rejected() {
        let codes: Vec<Code> = (0..17).map(Code::from_i32).collect();
        let classes: BTreeSet<_> = codes.iter().map(|code| class(*code)).collect();
        assert_eq!(classes.len(), 17);
        for code in codes {
            let expected = match code {
                Code::Ok => Verdict::Ok,
                Code::ResourceExhausted => Verdict::Rejected("grpc_resource_exhausted"),
                _ => Verdict::Failed(class(code)),
            };
            assert_eq!(verdict(code), expected);
        }
    }
}
