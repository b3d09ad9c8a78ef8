//! Commands run in a shell's place: what they print, where, and how they end.

mod cases;
mod digest;
mod fsck;
mod interactive;
mod newcomer;
mod openshift;
mod pull;
mod workers;
