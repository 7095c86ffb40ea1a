//! Numbers in texts and messages.

use std::fmt;

/// A number with as few digits as read back to it.
pub(crate) struct Real(pub(crate) f64);

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.0 == 0.0 || (1e-6..1e15).contains(&self.0.abs()) || !self.0.is_finite();
        if plain {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{:e}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Real;

    #[test]
    fn numbers_have_no_row_of_zeros() {
        for (number, text) in [
            (0.0, "0"),
            (0.99, "0.99"),
            (-1.0, "-1"),
            (1e14, "100000000000000"),
            (1e300, "1e300"),
            (-1e300, "-1e300"),
            (1e-13, "1e-13"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(Real(number).to_string(), text);
        }
    }
}
