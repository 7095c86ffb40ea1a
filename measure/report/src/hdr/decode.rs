//! From the text in a log or a report to counts.

use super::{Buckets, Precision};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::read::ZlibDecoder;
use std::io::Read;

/// More bytes than any histogram has: five digits over the whole range are 55 MB.
const LONGEST: u64 = 64 << 20;

/// Some writers leave the padding out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The header after the cookie, in bytes.
const HEADER: usize = 36;

/// Why a text is no histogram that can be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The characters are not base64.
    #[error("the histogram is not base64 ({0})")]
    Base64(#[source] base64::DecodeError),
    /// The compressed bytes are damaged.
    #[error("the histogram cannot be decompressed ({0})")]
    Compression(#[source] std::io::Error),
    /// Decompressed it would be larger than any.
    #[error("the histogram is longer than 64 MiB, and none is")]
    TooLong,
    /// It ends too early.
    #[error("the histogram is cut short")]
    CutShort,
    /// The first bytes are those of something else.
    #[error("the first bytes are {0:#010x}, which is no HdrHistogram of version 1 or 2")]
    UnknownCookie(u32),
    /// A version that is too old.
    #[error(
        "the histogram is in the encoding of version 0: write it anew with a library of 2015 or later"
    )]
    Version0,
    /// Of values that are not whole.
    #[error(
        "the histogram is one of fractions (DoubleHistogram), which are not read: record whole numbers"
    )]
    Fractions,
    /// Its values were shifted.
    #[error(
        "the histogram's values are shifted (normalizing offset {0}), which is not read: record without shifting"
    )]
    Shifted(i32),
    /// Digits or bounds that no histogram has.
    #[error("there is no histogram of {digits} digits from {lowest} to {highest}")]
    Bounds {
        /// Significant decimal digits.
        digits: u32,
        /// The smallest value that is told apart from 0.
        lowest: u64,
        /// The largest.
        highest: u64,
    },
    /// A count beyond the largest value.
    #[error("there are values above {0}, the largest that the histogram says it has")]
    PastTheEnd(u64),
    /// A count that is negative or too large to be added up.
    #[error("a count is negative or too large")]
    Count,
}

/// Decodes what any HdrHistogram library writes, in version 2 or 1, compressed or not, in base64.
pub(crate) fn decode(text: &str) -> Result<Buckets, DecodeError> {
    let bytes = BASE64.decode(text).map_err(DecodeError::Base64)?;
    let mut rest = bytes.as_slice();
    let cookie = word(&mut rest)?;
    match base(cookie) {
        0x1c84_9302 | 0x1c84_9304 => {
            let length = word(&mut rest)? as usize;
            let compressed = rest.get(..length).ok_or(DecodeError::CutShort)?;
            let mut plain = Vec::new();
            let mut inflated = ZlibDecoder::new(compressed).take(LONGEST);
            inflated
                .read_to_end(&mut plain)
                .map_err(DecodeError::Compression)?;
            if plain.len() as u64 >= LONGEST {
                return Err(DecodeError::TooLong);
            }
            let mut rest = plain.as_slice();
            let cookie = word(&mut rest)?;
            uncompressed(cookie, rest)
        }
        _ => uncompressed(cookie, rest),
    }
}

/// Which encoding: the size of words stands in the same byte.
fn base(cookie: u32) -> u32 {
    cookie & !0xf0
}

fn uncompressed(cookie: u32, bytes: &[u8]) -> Result<Buckets, DecodeError> {
    let is_v2 = match base(cookie) {
        0x1c84_9303 => true,
        0x1c84_9301 => false,
        0x1c84_9308 | 0x1c84_9309 => return Err(DecodeError::Version0),
        0x0c72_120e | 0x0c72_120f => return Err(DecodeError::Fractions),
        _ => return Err(DecodeError::UnknownCookie(cookie)),
    };
    let (mut header, payload) = bytes
        .split_at_checked(HEADER)
        .ok_or(DecodeError::CutShort)?;
    let length = word(&mut header)? as usize;
    let offset = word(&mut header)?.cast_signed();
    let digits = word(&mut header)?;
    let lowest = long(&mut header)?;
    let highest = long(&mut header)?;
    let ratio = long(&mut header)?;
    // The JavaScript library writes two integers of 1 here, whatever it has, and shifts nothing.
    let is_javascript = offset == 1 && ratio == 1;
    if !is_javascript && offset != 0 {
        return Err(DecodeError::Shifted(offset));
    }
    if !is_javascript && f64::from_bits(ratio) != 1.0 {
        return Err(DecodeError::Fractions);
    }
    let wrong = DecodeError::Bounds {
        digits,
        lowest,
        highest,
    };
    let precision = Precision::new(digits, lowest).filter(|_| highest >= lowest);
    let payload = payload.get(..length).ok_or(DecodeError::CutShort)?;
    let mut filling = Filling {
        buckets: Buckets::new(precision.ok_or(wrong)?),
        index: 0,
        highest,
    };
    match is_v2 {
        true => filling.variable(payload)?,
        false => filling.fixed(payload, usize::try_from((cookie >> 4) & 0xe).unwrap_or(0))?,
    }
    Ok(filling.buckets)
}

/// Counts on their way into buckets.
struct Filling {
    buckets: Buckets,
    /// Of the next bucket.
    index: u64,
    highest: u64,
}

impl Filling {
    /// Numbers of one to nine bytes, of which a negative one stands for so many empty buckets: version 2.
    fn variable(&mut self, mut payload: &[u8]) -> Result<(), DecodeError> {
        while !payload.is_empty() {
            match zig_zag(variable(&mut payload)?) {
                zeros if zeros < 0 => {
                    self.index = self.index.saturating_add(zeros.unsigned_abs());
                }
                count => self.next(count.unsigned_abs())?,
            }
        }
        Ok(())
    }

    /// Numbers of `size` bytes: version 1.
    fn fixed(&mut self, payload: &[u8], size: usize) -> Result<(), DecodeError> {
        if !matches!(size, 2 | 4 | 8) {
            return Err(DecodeError::CutShort);
        }
        for bytes in payload.chunks_exact(size) {
            let count = bytes
                .iter()
                .fold(0, |number, byte| (number << 8) | u64::from(*byte));
            let is_negative = bytes.first().is_some_and(|first| *first > 127);
            if is_negative {
                return Err(DecodeError::Count);
            }
            self.next(count)?;
        }
        Ok(())
    }

    fn next(&mut self, count: u64) -> Result<(), DecodeError> {
        if count > 0 {
            let past = || DecodeError::PastTheEnd(self.highest);
            let precision = self.buckets.precision();
            let lowest = precision.lowest_of(self.index).ok_or_else(past)?;
            // Arrays have whole octaves.
            let octaves = self.highest.max(1).ilog2().max(precision.finest_octave());
            if lowest
                .checked_ilog2()
                .is_some_and(|octave| octave > octaves)
            {
                return Err(past());
            }
            self.buckets.add(lowest, count).ok_or(DecodeError::Count)?;
        }
        self.index = self.index.saturating_add(1);
        Ok(())
    }
}

fn word(bytes: &mut &[u8]) -> Result<u32, DecodeError> {
    let (word, rest) = bytes.split_first_chunk().ok_or(DecodeError::CutShort)?;
    *bytes = rest;
    Ok(u32::from_be_bytes(*word))
}

fn long(bytes: &mut &[u8]) -> Result<u64, DecodeError> {
    let (long, rest) = bytes.split_first_chunk().ok_or(DecodeError::CutShort)?;
    *bytes = rest;
    Ok(u64::from_be_bytes(*long))
}

/// Seven bits a byte, the lowest first; a ninth byte has eight.
fn variable(bytes: &mut &[u8]) -> Result<u64, DecodeError> {
    let mut number = 0;
    for place in 0..9 {
        let (byte, rest) = bytes.split_first().ok_or(DecodeError::CutShort)?;
        *bytes = rest;
        if place == 8 {
            return Ok(number | u64::from(*byte) << 56);
        }
        number |= u64::from(byte & 0x7f) << (7 * place);
        if *byte < 128 {
            break;
        }
    }
    Ok(number)
}

fn zig_zag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdr::{encode, encode_ours};
    use base64::engine::general_purpose::STANDARD as PADDED;
    use openloop_measurer::Histogram;
    use proptest::prelude::*;

    fn refused(bytes: &[u8]) -> DecodeError {
        decode(&PADDED.encode(bytes)).unwrap_err()
    }

    /// The uncompressed encoding of version 2, or 1 with words of eight bytes.
    fn plain(cookie: u32, offset: u32, ratio: u64, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [cookie, payload.len() as u32, offset, 3] {
            bytes.extend(word.to_be_bytes());
        }
        for long in [1_u64, 3_600_000_000_000, ratio] {
            bytes.extend(long.to_be_bytes());
        }
        bytes.extend(payload);
        bytes
    }

    const V2: u32 = 0x1c84_9313;
    const ONE: u64 = 0x3ff0_0000_0000_0000;

    fn counts(bytes: &[u8]) -> Vec<(u64, u64, u64)> {
        decode(&PADDED.encode(bytes)).unwrap().iter().collect()
    }

    #[test]
    fn both_versions_are_read() {
        // Two empty buckets, then 5 values of 2; in base -n for n empty ones, 2n for n values.
        assert_eq!(counts(&plain(V2, 0, ONE, &[3, 10])), [(2, 2, 5)]);
        let words = [0_u64, 0, 5].map(u64::to_be_bytes).concat();
        assert_eq!(counts(&plain(0x1c84_9381, 0, ONE, &words)), [(2, 2, 5)]);
        let short = [0_u16, 0, 5].map(u16::to_be_bytes).concat();
        assert_eq!(counts(&plain(0x1c84_9321, 0, ONE, &short)), [(2, 2, 5)]);
    }

    #[test]
    fn the_header_of_the_javascript_library_shifts_nothing() {
        assert_eq!(counts(&plain(V2, 1, 1, &[3, 10])), [(2, 2, 5)]);
        assert!(matches!(
            refused(&plain(V2, 1, ONE, &[3, 10])),
            DecodeError::Shifted(1)
        ));
        assert!(matches!(
            refused(&plain(V2, 0, 1, &[3, 10])),
            DecodeError::Fractions
        ));
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_name() {
        assert!(matches!(decode("no base64!"), Err(DecodeError::Base64(_))));
        assert!(matches!(refused(&[]), DecodeError::CutShort));
        assert!(matches!(
            refused(&[1, 2, 3, 4]),
            DecodeError::UnknownCookie(0x0102_0304)
        ));
        assert!(matches!(
            refused(&0x1c84_9308_u32.to_be_bytes()),
            DecodeError::Version0
        ));
        assert!(matches!(
            refused(&0x0c72_124f_u32.to_be_bytes()),
            DecodeError::Fractions
        ));
        let whole = plain(V2, 0, ONE, &[3, 10]);
        for end in 4..whole.len() {
            assert!(
                matches!(refused(&whole[..end]), DecodeError::CutShort),
                "{end}"
            );
        }
        // A number that goes on after the end, a run of zeros past it, and a count there.
        assert!(matches!(
            refused(&plain(V2, 0, ONE, &[0x80])),
            DecodeError::CutShort
        ));
        let far = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
        assert!(matches!(
            refused(&plain(V2, 0, ONE, &far)),
            DecodeError::PastTheEnd(_)
        ));
        let mut digits = whole.clone();
        digits[15] = 9;
        assert!(matches!(
            refused(&digits),
            DecodeError::Bounds { digits: 9, .. }
        ));
        // Twice the largest count.
        let most = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        let twice = [most, most, most].concat();
        assert!(matches!(
            refused(&plain(V2, 0, ONE, &twice)),
            DecodeError::Count
        ));
        let mut negative = vec![0_u8; 8];
        negative[0] = 0x80;
        assert!(matches!(
            refused(&plain(0x1c84_9381, 0, ONE, &negative)),
            DecodeError::Count
        ));
    }

    #[test]
    fn damage_to_the_compressed_bytes_is_found() {
        let mut histogram = Histogram::new();
        (0..1000).for_each(|i| histogram.record(i * i));
        let mut bytes = PADDED.decode(encode_ours(&histogram)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        assert!(matches!(refused(&bytes), DecodeError::Compression(_)));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            values in prop::collection::vec((0_u64..=3_600_000_000_000, 0_u32..42, 1_u64..1000), 0..100),
        ) {
            let mut histogram = Histogram::new();
            for (ns, shift, times) in values {
                for _ in 0..times.min(3) {
                    histogram.record(ns >> shift);
                }
            }
            let text = encode_ours(&histogram);
            let read = decode(&text).unwrap();
            let ours: Vec<_> = histogram.buckets().collect();
            let theirs: Vec<_> = read.iter().map(|(_, highest, count)| (highest, count)).collect();
            prop_assert_eq!(ours, theirs);
            prop_assert_eq!(read.precision(), Precision::OURS);
            prop_assert_eq!(decode(&encode(&read).unwrap()).unwrap(), read);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), cookie in 0_u32..32) {
            let mut with_cookie = (0x1c84_9300 + cookie).to_be_bytes().to_vec();
            with_cookie.extend(&bytes);
            let _ = decode(&PADDED.encode(&with_cookie));
            let _ = decode(&PADDED.encode(plain(V2, 0, ONE, &bytes)));
        }
    }
}
