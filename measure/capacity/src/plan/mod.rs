//! From a sweep and a peak demand to what has to be bought and set, each figure with its formula and what went into it.
//!
//! | I want … | look at |
//! | --- | --- |
//! | to say what was measured, and what is to come | [`Figures`], [`KvFigures`] |
//! | everything that follows from it | [`Plan`], which prints as a table |
//! | one figure, its formula, its inputs | [`Item`], by its [`Quantity`] |
//! | what could not be told, and what for want of | [`Missing`] |
//!
//! The numbers are those of [`sizing`](crate::sizing), where the rules and their limits are explained.

mod figures;
mod item;
mod nodes;
mod steps;
mod text;

pub use figures::{Figures, KvFigures};
pub use item::{Input, Item, Missing, Quantity, Unit};
pub use steps::Plan;
