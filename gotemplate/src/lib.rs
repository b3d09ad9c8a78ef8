//! Go's text/template, with the function sets people use it with, for programs that run other people's templates.
#![doc = include_str!("../README.md")]

mod ast;
mod budget;
mod cache;
mod compile;
mod context;
mod error;
mod fmt;
pub mod function;
mod functions;
pub mod json;
mod lex;
mod parse;
mod plain;
pub mod profile;
mod program;
mod regex;
mod report;
mod strconv;
pub mod time;
mod toml;
mod unicode;
mod value;
mod vm;

pub use budget::{Budget, Limit};
pub use cache::ProgramCache;
pub use context::{Clock, Context, Failure, FixedClock, Random, SeededRandom};
pub use error::{Error, ErrorKind};
pub use plain::{from_yaml, from_yaml_data};
pub use profile::Profile;
pub use program::{MissingKey, Options, Program};
pub use report::{Report, Unrepeatable};
pub use value::{Arena, Element, Entry, IntType, ListType, Map, MapType, Object, Signature, UintType, Value};
pub use vm::{Environment, Spent, render};
