//! Messages as they lie in the bytes of a stream: each behind a flag and its length.

use crate::GrpcErrorKind;
use bytes::{Buf, BufMut, Bytes, BytesMut};

/// One byte that says whether the message is compressed, and its length in four.
const PREFIX: usize = 5;

/// A message with its prefix; `None` for one that is too long for its length to be written.
pub(crate) fn framed(message: &[u8]) -> Option<Bytes> {
    let length = u32::try_from(message.len()).ok()?;
    let mut frame = BytesMut::with_capacity(PREFIX + message.len());
    frame.put_u8(0);
    frame.put_u32(length);
    frame.put_slice(message);
    Some(frame.freeze())
}

/// Finds the messages in the bytes of a stream, however they are cut into pieces.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    prefix: [u8; PREFIX],
    /// How much of the prefix is there.
    known: usize,
    /// What the message still lacks, once its prefix is there.
    lacks: usize,
    /// The message as far as it is there, where it is kept at all.
    part: BytesMut,
    keeps: bool,
}

impl Reader {
    /// One that hands out the messages, and not only their lengths.
    pub(crate) fn keeping(keeps: bool) -> Self {
        Reader {
            keeps,
            ..Reader::default()
        }
    }

    /// Takes the next bytes, and shows the length of each message that ends in them, with the message where it is kept.
    /// One that came in one piece is not copied.
    pub(crate) fn take(
        &mut self,
        mut data: Bytes,
        mut ended: impl FnMut(usize, Bytes),
    ) -> Result<(), GrpcErrorKind> {
        loop {
            if self.known < PREFIX {
                let part = data.len().min(PREFIX - self.known);
                data.copy_to_slice(&mut self.prefix[self.known..self.known + part]);
                self.known += part;
                if self.known < PREFIX {
                    return Ok(());
                }
                self.lacks = self.length()?;
            }
            let part = data.len().min(self.lacks);
            self.lacks -= part;
            if self.lacks > 0 {
                if self.keeps {
                    self.part.extend_from_slice(&data);
                }
                return Ok(());
            }
            let part = data.split_to(part);
            let message = match (self.keeps, self.part.is_empty()) {
                (false, _) => Bytes::new(),
                (true, true) => part,
                (true, false) => {
                    self.part.extend_from_slice(&part);
                    self.part.split().freeze()
                }
            };
            ended(self.length()?, message);
            self.known = 0;
        }
    }

    /// Whether the bytes ended where a message did.
    pub(crate) fn is_between(&self) -> bool {
        self.known == 0
    }

    fn length(&self) -> Result<usize, GrpcErrorKind> {
        let [flag, length @ ..] = self.prefix;
        if flag != 0 {
            return Err(GrpcErrorKind::Malformed(format!(
                "a message has the flag {flag}, as if compressed, and compression was not offered"
            )));
        }
        usize::try_from(u32::from_be_bytes(length))
            .map_err(|_| GrpcErrorKind::Malformed("a message is too long for this machine".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_however_they_are_cut() {
        let messages: [&[u8]; 4] = [b"", b"a", b"four", &[7; 300]];
        let stream: Vec<u8> = messages
            .iter()
            .flat_map(|message| framed(message).unwrap())
            .collect();
        for piece in 1..stream.len() {
            let mut reader = Reader::keeping(true);
            let mut found = Vec::new();
            for piece in stream.chunks(piece) {
                reader
                    .take(Bytes::copy_from_slice(piece), |length, message| {
                        assert_eq!(length, message.len());
                        found.push(message);
                    })
                    .unwrap();
            }
            assert_eq!(found, messages, "cut into pieces of {piece}");
            assert!(reader.is_between());
        }
    }

    #[test]
    fn lengths_are_told_without_keeping_anything() {
        let mut reader = Reader::default();
        let mut lengths = Vec::new();
        let mut stream = framed(&[1; 9]).unwrap().to_vec();
        stream.extend_from_slice(&[0, 0, 0]);
        reader
            .take(Bytes::from(stream), |length, message| {
                assert!(message.is_empty());
                lengths.push(length);
            })
            .unwrap();
        assert_eq!(lengths, [9]);
        assert!(!reader.is_between());
    }

    #[test]
    fn what_is_compressed_is_refused() {
        let mut reader = Reader::default();
        let error = reader.take(Bytes::from_static(&[1, 0, 0, 0, 0]), |_, _| ());
        assert_eq!(error.unwrap_err().class(), "malformed");
    }
}
