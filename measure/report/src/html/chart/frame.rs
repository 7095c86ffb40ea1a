//! Where in a picture the data lie.

/// The size of a picture and its margins, in pixels.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Frame {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// How far apart the numbers along the horizontal axis are at least.
    pub(super) apart: f64,
}

impl Frame {
    pub(super) const WIDE: Frame = Frame {
        width: 920.0,
        height: 260.0,
        left: 62.0,
        right: 16.0,
        top: 10.0,
        bottom: 26.0,
        apart: 56.0,
    };

    pub(super) const NARROW: Frame = Frame {
        width: 350.0,
        height: 220.0,
        left: 52.0,
        right: 10.0,
        top: 8.0,
        bottom: 24.0,
        apart: 48.0,
    };

    /// The same, higher or lower.
    pub(super) fn scaled(self, height: f64) -> Frame {
        Frame {
            height: self.height * height,
            ..self
        }
    }

    /// How high a line of names is.
    pub(super) const LANE: f64 = 16.0;

    /// The same with room for so many lines of names above.
    pub(super) fn with_lanes(self, lanes: usize) -> Frame {
        let room = Frame::LANE * lanes as f64;
        Frame {
            height: self.height + room,
            top: self.top + room,
            ..self
        }
    }

    /// The share of the horizontal axis by which its numbers are apart at least.
    pub(super) fn gap(&self) -> f64 {
        self.apart / (self.width - self.left - self.right)
    }

    /// Of a place from 0 to 1 along the horizontal axis.
    pub(super) fn x(&self, place: f64) -> f64 {
        self.left + place * (self.width - self.left - self.right)
    }

    /// Of a place from 0 to 1 up the vertical axis.
    pub(super) fn y(&self, place: f64) -> f64 {
        self.height - self.bottom - place * (self.height - self.top - self.bottom)
    }
}
