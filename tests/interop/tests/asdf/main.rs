//! Files of ASDF go back and forth between this workspace and three releases of Python asdf, and its trees between this YAML and
//! PyYAML with libyaml. The same random cases each time; `HOLDALL_CASES=20` runs 20 times as many.

mod arrays;
mod carried;
mod changes;
mod documents;
mod emits;
mod masks;
mod nodes;
mod peers;
mod random;
mod reads;
mod reference_files;
mod repairs;
mod scalars;
mod schemas;
mod trees;
mod view;
mod writes;
