//! Small numbers in few bits: the gamma code of Elias (Universal codeword sets and representations of the
//! integers, 1975). A number of n binary digits is n − 1 zeros and its digits.

/// Writes `numbers`, of which none is zero, to `bytes`, which are empty.
pub(crate) fn write(bytes: &mut Vec<u8>, numbers: impl Iterator<Item = u64>) {
    // The bits that make no byte yet are the last `len` of `bits`.
    let (mut bits, mut len) = (0_u128, 0_u32);
    for number in numbers {
        debug_assert!(number > 0, "it has no codeword");
        let digits = u64::BITS - number.leading_zeros();
        for (more, count) in [(0, digits.saturating_sub(1)), (number, digits)] {
            bits = bits << count | u128::from(more);
            len += count;
            while len >= u8::BITS {
                len -= u8::BITS;
                bytes.push((bits >> len) as u8);
            }
        }
    }
    if len > 0 {
        bytes.push((bits << (u8::BITS - len)) as u8);
    }
}

/// Reads what [`write`] wrote.
pub(crate) fn read(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let bits = |byte: &u8| {
        let byte = *byte;
        (0..u8::BITS).rev().map(move |bit| byte >> bit & 1 == 1)
    };
    let mut bits = bytes.iter().flat_map(bits);
    std::iter::from_fn(move || {
        // The zeros that fill the last byte are not followed by a one.
        let zeros = bits.position(|bit| bit)?;
        let mut number = 1;
        for bit in bits.by_ref().take(zeros) {
            number = number << 1 | u64::from(bit);
        }
        Some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_codewords_are_those_of_elias() {
        let mut bytes = Vec::new();
        // 1 010 011 00100 00101, filled with zeros.
        write(&mut bytes, 1..=5);
        assert_eq!(bytes, [0b1010_0110, 0b0100_0010, 0b1000_0000]);
        assert!(read(&bytes).eq(1..=5));
        assert_eq!(read(&[]).next(), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            numbers in prop::collection::vec((1..=u64::MAX, 0_u32..64), 0..200)
        ) {
            let numbers: Vec<u64> = numbers.iter().map(|(number, shift)| (number >> shift).max(1)).collect();
            let mut bytes = Vec::new();
            write(&mut bytes, numbers.iter().copied());
            prop_assert_eq!(read(&bytes).collect::<Vec<_>>(), numbers);
        }
    }
}
