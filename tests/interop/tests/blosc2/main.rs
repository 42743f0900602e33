//! Frames and arrays of Blosc2 go back and forth between this workspace and two releases of python-blosc2, whose values are numpy's. The
//! same random cases each time; `HOLDALL_CASES=20` runs 20 times as many.

mod arrays;
mod axes;
mod changes;
mod crashes;
mod damage;
mod frames;
mod locks;
mod metadata;
mod peers;
mod random;
mod tables;
