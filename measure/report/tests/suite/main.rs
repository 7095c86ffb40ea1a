//! Reports of runs on the paused clock, byte by byte and field by field.

mod fixture;
mod golden;
mod json;
mod progress;
mod text;
