//! Compatible, strict and lenient opening of files that were changed; the three agree where they can.

mod bit_flips;
mod faults;
mod messages;
mod small;
