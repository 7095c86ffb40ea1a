//! Keys as a text.

use super::{Drift, HotSpot, Keys, KeysError, Latest, Law, Sequential, Uniform, Zipf};
use crate::number::Real;
use std::fmt;
use std::str::FromStr;

const WHOLE: &str = "a whole number from 0 to 2^64 - 1, such as 1000 or 1e6";
const REAL: &str = "a number, such as 0.99";

/// The form of [`Keys`]'s `FromStr`.
impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let law = self.law();
        write!(f, "{}:{}", law.name(), law.count())?;
        match law {
            Law::Uniform(_) | Law::Sequential(_) => {}
            Law::Zipf(zipf) => write!(f, ":{}", Real(zipf.exponent()))?,
            Law::HotSpot(hot) => write!(f, ":{}:{}", Real(hot.fraction()), Real(hot.share()))?,
            Law::Latest(latest) => write!(
                f,
                ":{}:{}",
                Real(latest.ages().exponent()),
                Real(latest.inserts())
            )?,
        }
        if let Some(drift) = self.drift() {
            write!(f, ":drift={}/{}", drift.step(), drift.every())?;
        }
        match self.scramble().map(|scramble| scramble.seed()) {
            None => Ok(()),
            Some(0) => f.write_str(":scrambled"),
            Some(seed) => write!(f, ":scrambled={seed}"),
        }
    }
}

/// `uniform:N`, `sequential:N`, `zipf:N:S`, `zipf:N:SHARE/TOP` in per cent, `hotspot:N:HOT:SHARE` or
/// `latest:N:S:INSERTS`, then `:drift=STEP/EVERY`, then `:scrambled` or `:scrambled=SEED`.
impl FromStr for Keys {
    type Err = KeysError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts: Vec<&str> = text.split(':').map(str::trim).collect();
        let modified = parts
            .iter()
            .position(|part| part.starts_with("drift") || part.starts_with("scrambled"))
            .unwrap_or(parts.len());
        let mut modifiers = parts.split_off(modified).into_iter().peekable();
        let mut keys = Keys::new(law(text, &parts)?);
        if let Some(drift) = modifiers.next_if(|part| part.starts_with("drift")) {
            let wrong = || KeysError::Modifier(drift.to_owned());
            let (step, every) = drift
                .strip_prefix("drift=")
                .and_then(|values| values.split_once('/'))
                .ok_or_else(wrong)?;
            keys = keys.drifting(Drift::new(whole("step", step)?, whole("every", every)?)?)?;
        }
        if let Some(scrambled) = modifiers.next_if(|part| part.starts_with("scrambled")) {
            let seed = match scrambled.strip_prefix("scrambled=") {
                Some(seed) => whole("scrambled", seed)?,
                None if scrambled == "scrambled" => 0,
                None => return Err(KeysError::Modifier(scrambled.to_owned())),
            };
            keys = keys.scrambled(seed)?;
        }
        match modifiers.next() {
            None => Ok(keys),
            Some(further) => Err(KeysError::Modifier(further.to_owned())),
        }
    }
}

fn law(text: &str, parts: &[&str]) -> Result<Law, KeysError> {
    let form = |form| {
        Err(KeysError::Form {
            text: text.trim().to_owned(),
            form,
        })
    };
    match *parts {
        ["uniform", n] => Ok(Uniform::new(count(n)?)?.into()),
        ["uniform", ..] => form("uniform:N, such as uniform:1000"),
        ["sequential", n] => Ok(Sequential::new(count(n)?)?.into()),
        ["sequential", ..] => form("sequential:N, such as sequential:1000"),
        ["zipf", n, s] => Ok(zipf(count(n)?, s)?.into()),
        ["zipf", ..] => form(
            "zipf:N:S, such as zipf:1000:0.99, or zipf:N:SHARE/TOP, such as zipf:1000:80/20 for 80 % of the requests on 20 % of the keys",
        ),
        ["hotspot", n, hot, share] => {
            Ok(HotSpot::new(count(n)?, real("hot", hot)?, real("share", share)?)?.into())
        }
        ["hotspot", ..] => form(
            "hotspot:N:HOT:SHARE, such as hotspot:1000:0.2:0.8 for 80 % of the requests on 20 % of the keys",
        ),
        ["latest", n, s, inserts] => {
            Ok(Latest::new(count(n)?, real("s", s)?, real("inserts", inserts)?)?.into())
        }
        ["latest", ..] => {
            form("latest:N:S:INSERTS, such as latest:1000:0.99:0.05 for 5 new keys in 100 requests")
        }
        _ => Err(KeysError::Unknown(text.trim().to_owned())),
    }
}

fn zipf(n: u64, s: &str) -> Result<Zipf, KeysError> {
    match s.split_once('/') {
        None => Zipf::new(n, real("s", s)?),
        Some((share, top)) => {
            let (share, top) = (real("share", share)?, real("top", top)?);
            Zipf::from_share(n, top / 100.0, share / 100.0)
        }
    }
}

fn count(text: &str) -> Result<u64, KeysError> {
    whole("n", text)
}

/// Digits, or a whole number with an exponent such as 1e9 or 2.5e6.
fn whole(parameter: &'static str, text: &str) -> Result<u64, KeysError> {
    let text = text.trim();
    let short = || {
        let (mantissa, exponent) = text.split_once(['e', 'E'])?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        let exponent: u32 = exponent.parse().ok()?;
        let power = 10_u64.checked_pow(exponent.checked_sub(fraction.len().try_into().ok()?)?)?;
        digits.parse::<u64>().ok()?.checked_mul(power)
    };
    text.parse()
        .ok()
        .or_else(short)
        .ok_or_else(|| KeysError::Number {
            parameter,
            text: text.to_owned(),
            kind: WHOLE,
        })
}

fn real(parameter: &'static str, text: &str) -> Result<f64, KeysError> {
    text.trim().parse().map_err(|_| KeysError::Number {
        parameter,
        text: text.trim().to_owned(),
        kind: REAL,
    })
}
