//! What compatible, strict and lenient opening make of files that were changed, and that the three agree where they can.

mod bit_flips;
mod faults;
mod small;
