//! Comparisons with the originals that are too long for every day. A difference that is not of a kind named in
//! `docs/compatibility` or a crate's README is a failure.

pub(crate) mod gotemplate;
pub(crate) mod kill;
pub(crate) mod yaml;
