//! The responses of one interval, at hand or packed.

use crate::Histogram;
use crate::histogram::Packed;

/// Responses, and memory to pack them into: that of the last time, or taken beforehand.
#[derive(Clone, Debug)]
pub(super) enum Latencies {
    Empty(Vec<u8>),
    Open(Box<Histogram>, Vec<u8>),
    Packed(Packed),
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies::Empty(Vec::new())
    }
}

impl Latencies {
    /// Nothing yet, and memory to pack so many bytes into.
    pub(super) fn with_room(bytes: usize) -> Self {
        // Memory that nobody has written to is not there yet.
        let mut room = vec![u8::MAX; bytes];
        room.clear();
        Latencies::Empty(room)
    }

    pub(super) fn open(&mut self) -> &mut Histogram {
        if !matches!(self, Latencies::Open(..)) {
            let histogram = Box::new(self.histogram());
            let room = match std::mem::take(self) {
                Latencies::Empty(room) | Latencies::Open(_, room) => room,
                Latencies::Packed(packed) => packed.into_room(),
            };
            *self = Latencies::Open(histogram, room);
        }
        match self {
            Latencies::Open(histogram, _) => histogram,
            // Assigned just above.
            Latencies::Empty(_) | Latencies::Packed(_) => unreachable!(),
        }
    }

    pub(super) fn histogram(&self) -> Histogram {
        match self {
            Latencies::Empty(_) => Histogram::new(),
            Latencies::Open(histogram, _) => (**histogram).clone(),
            Latencies::Packed(packed) => packed.unpack(),
        }
    }

    /// Returns how many bytes they take now.
    pub(super) fn pack(&mut self) -> usize {
        if let Latencies::Open(histogram, room) = self {
            *self = Latencies::Packed(histogram.pack(std::mem::take(room)));
        }
        match self {
            Latencies::Packed(packed) => packed.len(),
            Latencies::Empty(_) | Latencies::Open(..) => 0,
        }
    }

    pub(super) fn absorb(&mut self, other: Latencies) {
        match other {
            Latencies::Empty(_) => {}
            other => {
                let from = other.histogram();
                self.open().merge(&from);
            }
        }
    }
}
