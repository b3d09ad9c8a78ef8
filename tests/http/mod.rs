//! A server asked over HTTP.

mod access;
mod cases;
mod discovery;
mod disk;
mod durability;
mod git;
mod harm;
mod history;
mod imports;
mod memory;
mod pages;
mod poisoned;
mod reports;
mod settings;
mod sync;
mod webhooks;
