//! Profiles as text.

use std::str::FromStr;

use super::build::Builder;
use super::{ParseProfileError, Profile};
use crate::{Rate, parse_duration};

/// Pieces separated by commas, each `rate/time` or, for a ramp, `from->to/time`.
///
/// ```
/// use openloop_sched::Profile;
///
/// let profile: Profile = "0->100/10s,100/20s,100->0/10s".parse()?;
/// assert_eq!(profile.expected(), 3000.0);
/// # Ok::<(), openloop_sched::ParseProfileError>(())
/// ```
impl FromStr for Profile {
    type Err = ParseProfileError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut builder = Builder::default();
        for piece in text.split(',').map(str::trim) {
            let (rates, time) = piece
                .rsplit_once('/')
                .ok_or_else(|| ParseProfileError::Piece(piece.to_owned()))?;
            let (from, to) = rates.split_once("->").unwrap_or((rates, rates));
            let rate = |text: &str| {
                text.parse::<Rate>()
                    .map_err(|source| ParseProfileError::Rate {
                        piece: piece.to_owned(),
                        source,
                    })
            };
            let time = parse_duration(time).map_err(|source| ParseProfileError::Duration {
                piece: piece.to_owned(),
                source,
            })?;
            builder.ramp(rate(from)?, rate(to)?, time)?;
        }
        Ok(builder.finish()?)
    }
}
