//! Kubernetes YAML: reading and writing exactly as the programs of that world do.
//!
//! There is not one YAML but several. A cluster's tools read and write it with `sigs.k8s.io/yaml`, which is
//! go-yaml v2 with YAML 1.1 scalars squeezed through JSON; Deployment Manager used PyYAML. This crate reads under
//! either set of [`Rules`], knows the line and column of every value, keeps strangers' input within [`Limits`],
//! and writes byte for byte what those libraries write.
//!
//! ```
//! let document = yaml::load("replicas: 0o17\npaused: no\n", &yaml::Options::default())?.expect("one document");
//! assert_eq!(document.value.get("replicas"), Some(&yaml::Value::Int(15)));
//! assert_eq!(document.value.get("paused"), Some(&yaml::Value::Bool(false)));
//! assert_eq!(document.spans.span_of_value("/paused").expect("it is there").start.to_string(), "line 2, column 9");
//! assert_eq!(yaml::to_yaml(&document.value), "paused: false\nreplicas: 15\n");
//! # Ok::<(), yaml::Error>(())
//! ```
//!
//! # What it must not know
//! Anything about templates, registries or Kubernetes objects; files, networks, clocks. It is pure: text in, value
//! out, and back.

pub mod emit;
mod error;
mod load;
mod options;
mod position;
mod resolve;
pub mod split;
mod syntax;
mod value;

pub use emit::{
    EmitError, EmitOptions, Emitter, JsonOptions, JsonWriter, KeyOrder, Node, Sink, emit, emit_into, marshal,
    natural_order, sort_naturally, to_json, to_json_pretty, to_json_with, to_pyyaml, to_yaml,
};
pub use error::{Error, ErrorKind, LimitKind};
pub use load::{
    Document, load, load_bytes, load_first, load_first_value_bytes, load_stream, load_stream_bytes,
    load_value,
};
pub use options::{DuplicateKeys, Limits, Options, Rules};
pub use position::{Position, Span, Spans};
pub use value::{Map, Value};

/// What the quoting rules of the writers ask the reading rules: how a plain scalar would be understood.
pub use resolve::{Scalar, resolve_plain};

/// The examples of the README hold.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
