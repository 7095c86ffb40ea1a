//! Tensors: a name, a type, a shape and the values as they lie in memory.

use super::messages as wire;
use bytes::{BufMut, Bytes, BytesMut};

/// Why a tensor is none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The shape says one number of values and another one is there.
    #[error(
        "the tensor {name:?} of shape {shape:?} has {due} bytes by its type {datatype}, and {given} are given"
    )]
    Size {
        /// The tensor.
        name: String,
        /// Its shape.
        shape: Vec<i64>,
        /// The name of its type.
        datatype: &'static str,
        /// Bytes that the shape asks for.
        due: u128,
        /// Bytes that are there.
        given: usize,
    },
    /// A dimension is negative.
    #[error("the tensor {name:?} has a negative dimension: {shape:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// Its shape.
        shape: Vec<i64>,
    },
    /// A type that is not known here.
    #[error("the tensor {name:?} has the type {datatype:?}, which is not one of the protocol")]
    DataType {
        /// The tensor.
        name: String,
        /// What the server calls its type.
        datatype: String,
    },
    /// The answer does not parse.
    #[error("the answer is no ModelInferResponse: {reason}")]
    Reply {
        /// What is wrong.
        reason: String,
    },
}

/// The type of a tensor's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the protocol")]
#[non_exhaustive]
pub enum DataType {
    Bool,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Int8,
    Int16,
    Int32,
    Int64,
    Fp16,
    Bf16,
    Fp32,
    Fp64,
    /// Texts or blobs, each behind its length in four bytes, the lowest first.
    Bytes,
}

/// Each with its name and the bytes of a value; 0 for values of any length.
const TYPES: [(DataType, &str, u128); 14] = [
    (DataType::Bool, "BOOL", 1),
    (DataType::Uint8, "UINT8", 1),
    (DataType::Uint16, "UINT16", 2),
    (DataType::Uint32, "UINT32", 4),
    (DataType::Uint64, "UINT64", 8),
    (DataType::Int8, "INT8", 1),
    (DataType::Int16, "INT16", 2),
    (DataType::Int32, "INT32", 4),
    (DataType::Int64, "INT64", 8),
    (DataType::Fp16, "FP16", 2),
    (DataType::Bf16, "BF16", 2),
    (DataType::Fp32, "FP32", 4),
    (DataType::Fp64, "FP64", 8),
    (DataType::Bytes, "BYTES", 0),
];

impl DataType {
    fn row(self) -> (&'static str, u128) {
        let row = TYPES.iter().find(|(datatype, ..)| *datatype == self);
        row.map_or(("BYTES", 0), |(_, name, size)| (*name, *size))
    }

    /// The protocol's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().0
    }

    fn of_name(name: &str) -> Option<Self> {
        let row = TYPES.iter().find(|(_, known, _)| *known == name);
        row.map(|(datatype, ..)| *datatype)
    }
}

/// A tensor with its values as they lie in memory, the lowest byte first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub(super) name: String,
    pub(super) datatype: DataType,
    pub(super) shape: Vec<i64>,
    pub(super) data: Bytes,
}

impl Tensor {
    /// A tensor of values as they lie in memory.
    ///
    /// # Errors
    ///
    /// [`TensorError`] where shape and values do not fit.
    pub fn new(
        name: impl Into<String>,
        datatype: DataType,
        shape: &[i64],
        data: impl Into<Bytes>,
    ) -> Result<Self, TensorError> {
        let (name, data) = (name.into(), data.into());
        let mut values: u128 = 1;
        for dimension in shape {
            let Ok(dimension) = u64::try_from(*dimension) else {
                let shape = shape.to_vec();
                return Err(TensorError::Shape { name, shape });
            };
            values = values.saturating_mul(dimension.into());
        }
        let (type_name, size) = datatype.row();
        let due = values.saturating_mul(size);
        if size > 0 && due != data.len() as u128 {
            return Err(TensorError::Size {
                name,
                shape: shape.to_vec(),
                datatype: type_name,
                due,
                given: data.len(),
            });
        }
        Ok(Tensor {
            name,
            datatype,
            shape: shape.to_vec(),
            data,
        })
    }

    /// A tensor of `FP32`.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn fp32(
        name: impl Into<String>,
        shape: &[i64],
        values: &[f32],
    ) -> Result<Self, TensorError> {
        let data: BytesMut = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        Tensor::new(name, DataType::Fp32, shape, data)
    }

    /// A tensor of `INT64`.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn int64(
        name: impl Into<String>,
        shape: &[i64],
        values: &[i64],
    ) -> Result<Self, TensorError> {
        let data: BytesMut = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        Tensor::new(name, DataType::Int64, shape, data)
    }

    /// A tensor of `BYTES`, with one dimension: texts or blobs.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn bytes<T: AsRef<[u8]>>(
        name: impl Into<String>,
        values: impl IntoIterator<Item = T>,
    ) -> Result<Self, TensorError> {
        let mut data = BytesMut::new();
        let mut count = 0;
        for value in values {
            let value = value.as_ref();
            data.put_u32_le(u32::try_from(value.len()).unwrap_or(u32::MAX));
            data.put_slice(value);
            count += 1;
        }
        Tensor::new(name, DataType::Bytes, &[count], data)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of its values.
    #[must_use]
    pub fn datatype(&self) -> DataType {
        self.datatype
    }

    /// Its dimensions.
    #[must_use]
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// Its values as they lie in memory.
    #[must_use]
    pub fn data(&self) -> &Bytes {
        &self.data
    }

    /// Its values, if they are `FP32`.
    #[must_use]
    pub fn to_fp32(&self) -> Option<Vec<f32>> {
        let values = self.data.chunks_exact(4);
        let value = |bytes: &[u8]| bytes.try_into().ok().map(f32::from_le_bytes);
        (self.datatype == DataType::Fp32).then(|| values.filter_map(value).collect())
    }
}

/// The outputs of an answer, whose values lie in the tensors or, as raw bytes, beside them.
pub(super) fn outputs(reply: wire::ModelInferResponse) -> Result<Vec<Tensor>, TensorError> {
    let mut raw = reply.raw_output_contents.into_iter();
    let tensors = reply.outputs.into_iter().map(|tensor| {
        let Some(datatype) = DataType::of_name(&tensor.datatype) else {
            return Err(TensorError::DataType {
                name: tensor.name,
                datatype: tensor.datatype,
            });
        };
        let data = match tensor.contents {
            Some(contents) => flat(datatype, &contents),
            None => raw.next().unwrap_or_default().into(),
        };
        Tensor::new(tensor.name, datatype, &tensor.shape, data)
    });
    tensors.collect()
}

/// Values as they lie in memory. In the message, integers below 64 bits are widened to 32.
fn flat(datatype: DataType, contents: &wire::Contents) -> Bytes {
    let mut data = BytesMut::new();
    for value in &contents.bools {
        data.put_u8(u8::from(*value));
    }
    let (_, size) = datatype.row();
    let size = usize::try_from(size).unwrap_or(0).min(4);
    for value in &contents.ints {
        data.put_slice(&value.to_le_bytes()[..size]);
    }
    for value in &contents.uints {
        data.put_slice(&value.to_le_bytes()[..size]);
    }
    contents
        .int64s
        .iter()
        .for_each(|value| data.put_i64_le(*value));
    contents
        .uint64s
        .iter()
        .for_each(|value| data.put_u64_le(*value));
    contents
        .fp32s
        .iter()
        .for_each(|value| data.put_f32_le(*value));
    contents
        .fp64s
        .iter()
        .for_each(|value| data.put_f64_le(*value));
    for value in &contents.bytes {
        data.put_u32_le(u32::try_from(value.len()).unwrap_or(u32::MAX));
        data.put_slice(value);
    }
    data.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_do_not_fill_the_shape_are_refused() {
        let error = Tensor::fp32("x", &[2, 3], &[0.0; 5]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the tensor \"x\" of shape [2, 3] has 24 bytes by its type FP32, and 20 are given"
        );
        assert!(matches!(
            Tensor::int64("x", &[-1], &[]),
            Err(TensorError::Shape { .. })
        ));
        let huge = Tensor::new("x", DataType::Fp64, &[i64::MAX; 9], Bytes::new());
        assert!(matches!(huge, Err(TensorError::Size { .. })));
        assert_eq!(Tensor::bytes("x", ["ab", ""]).unwrap().shape(), [2]);
    }

    #[test]
    fn outputs_are_read_from_beside_the_tensors_and_from_within() {
        let tensor = |name: &str, datatype: &str, contents| wire::Tensor {
            name: name.to_owned(),
            datatype: datatype.to_owned(),
            shape: vec![2],
            contents,
        };
        let within = |contents| Some(contents);
        let reply = wire::ModelInferResponse {
            outputs: vec![
                tensor("raw", "FP32", None),
                tensor(
                    "within",
                    "INT8",
                    within(wire::Contents {
                        ints: vec![-1, 2],
                        ..Default::default()
                    }),
                ),
            ],
            raw_output_contents: vec![[1_f32, 2.0].iter().flat_map(|v| v.to_le_bytes()).collect()],
        };
        let outputs = outputs(reply).unwrap();
        assert_eq!(outputs[0].to_fp32(), Some(vec![1.0, 2.0]));
        assert_eq!(outputs[1].data().as_ref(), [0xff, 2]);
    }
}
