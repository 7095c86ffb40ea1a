//! Memory for the KV cache of a language model.

use crate::CapacityError;

/// What of a model decides how much it remembers per token.
///
/// ```
/// use openloop_capacity::sizing::KvShape;
///
/// // Llama 3.1 8B: 32 layers, 8 heads of keys and values (grouped queries) of 128 numbers, 16 bits each.
/// let shape = KvShape { layers: 32, kv_heads: 8, head_dimension: 128, bits: 16 };
/// assert_eq!(shape.bits_per_token(), 128 * 1024 * 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KvShape {
    /// Layers with attention.
    pub layers: u32,
    /// Heads of keys and values in a layer, which with grouped queries are fewer than the heads of queries.
    pub kv_heads: u32,
    /// Numbers in one head.
    pub head_dimension: u32,
    /// Bits of a number: 16 for bf16, 8 for fp8.
    pub bits: u32,
}

impl KvShape {
    /// 2 · layers · heads · dimension · bits, the 2 for keys and values.
    ///
    /// Of the whole model: with tensor parallelism each GPU holds its part.
    #[must_use]
    pub fn bits_per_token(&self) -> u128 {
        // Four factors below 2³² and a 2: the product of all is held by u128 but for the last bit.
        2_u128.saturating_mul(
            (u128::from(self.layers) * u128::from(self.kv_heads))
                .saturating_mul(u128::from(self.head_dimension) * u128::from(self.bits)),
        )
    }
}

/// A paged KV cache: each sequence holds whole blocks of tokens, so the last one is half empty in the mean.
///
/// | symbol | meaning |
/// | --- | --- |
/// | blocks = N ⌈T / b⌉ | for N sequences of T tokens in blocks of b |
/// | bytes = blocks · b · bytes per token | |
///
/// T is what a sequence holds at its longest, prompt and output. A sequence grows while it decodes, so over its life it
/// holds less in the mean, and sharing of prefixes makes it less still; sized by the longest, nothing is preempted.
/// W. Kwon et al., *Efficient Memory Management for Large Language Model Serving with PagedAttention* (2023).
///
/// ```
/// use openloop_capacity::sizing::{Concurrency, KvCache, KvShape};
///
/// let shape = KvShape { layers: 32, kv_heads: 8, head_dimension: 128, bits: 16 };
/// let cache = KvCache::new(shape, 16)?;
/// // 50/s of 4 s each, 4000 tokens of prompt and 300 of output, too little room 1 % of the time.
/// let sequences = Concurrency::new(50.0, 4.0)?.room_for(0.01)?;
/// assert_eq!(cache.blocks(sequences, 4300)?, 234 * 269);
/// assert_eq!(cache.bytes(sequences, 4300)?, 234 * 269 * 16 * 131_072);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KvCache {
    block_tokens: u32,
    bits_per_block: u128,
}

impl KvCache {
    /// The cache of a model of this shape, in blocks of `block_tokens` tokens (vLLM: 16).
    ///
    /// # Errors
    /// When a block or the shape has a 0 in it, or a block would be larger than 2⁶⁴ bytes.
    pub fn new(shape: KvShape, block_tokens: u32) -> Result<Self, CapacityError> {
        for (name, value) in [
            ("the number of tokens in a block", block_tokens),
            ("the number of layers", shape.layers),
            ("the number of heads of keys and values", shape.kv_heads),
            ("the dimension of a head", shape.head_dimension),
            ("the number of bits", shape.bits),
        ] {
            if value == 0 {
                return Err(CapacityError::OutOfRange {
                    name,
                    value: 0.0,
                    expected: "at least 1",
                });
            }
        }
        let bits = shape
            .bits_per_token()
            .saturating_mul(u128::from(block_tokens));
        if bits.div_ceil(8) > u128::from(u64::MAX) {
            return Err(too_large("the size of a block", bits as f64 / 8.0));
        }
        Ok(KvCache {
            block_tokens,
            bits_per_block: bits,
        })
    }

    /// The blocks of `sequences` sequences that each hold `tokens` tokens.
    ///
    /// # Errors
    /// When there are 2⁶⁴ blocks or more.
    pub fn blocks(&self, sequences: u64, tokens: u64) -> Result<u64, CapacityError> {
        let each = tokens.div_ceil(u64::from(self.block_tokens));
        sequences
            .checked_mul(each)
            .ok_or_else(|| too_large("the number of blocks", sequences as f64 * each as f64))
    }

    /// The bytes that those blocks take.
    ///
    /// # Errors
    /// When there are 2⁶⁴ bytes or more.
    pub fn bytes(&self, sequences: u64, tokens: u64) -> Result<u64, CapacityError> {
        let blocks = self.blocks(sequences, tokens)?;
        // Blocks below 2⁶⁴ times bits below 2⁶⁷ may be too much.
        u128::from(blocks)
            .checked_mul(self.bits_per_block)
            .and_then(|bits| u64::try_from(bits.div_ceil(8)).ok())
            .ok_or_else(|| {
                let bytes = blocks as f64 * (self.bits_per_block as f64 / 8.0);
                too_large("the number of bytes", bytes)
            })
    }
}

fn too_large(name: &'static str, value: f64) -> CapacityError {
    CapacityError::TooLarge {
        name,
        value,
        remedy: "check the numbers of sequences, tokens and bits",
    }
}
