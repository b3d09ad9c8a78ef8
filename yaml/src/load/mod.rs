//! Reading: parser events become a value, its spans, or an error that says where and why.
//!
//! What scalars mean, what keys, merges, duplicates and aliases do, and what all of it may cost is decided here.
//! Nothing recurses: open collections are a stack. It must not know YAML's syntax.

mod builder;
mod collection;
mod key;
mod problem;
mod scalar;

use crate::{
    error::{Error, ErrorKind, LimitKind},
    options::Options,
    position::{Position, Spans},
    value::Value,
};
use builder::Builder;

/// A document that was read: its value and where everything in it stands.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// What the document stands for.
    pub value: Value,
    /// Where each value and key stands.
    pub spans: Spans,
}

/// Reads a text of exactly one document; none if it holds nothing but blanks and comments.
///
/// # Errors
/// What is wrong with the text, and where; a second document is an error at its first place
/// ([`ErrorKind::SecondDocument`]).
pub fn load(text: &str, options: &Options) -> Result<Option<Document>, Error> {
    Ok(Builder::new(text, options, true)?.read_single()?.map(|(value, spans)| Document { value, spans }))
}

/// As [`load`], for those who need no spans: less work and memory.
///
/// # Errors
/// As [`load`].
pub fn load_value(text: &str, options: &Options) -> Result<Option<Value>, Error> {
    Ok(Builder::new(text, options, false)?.read_single()?.map(|(value, _)| value))
}

/// Reads the first document of a text and looks no further, as go-yaml's `Unmarshal` does: whatever follows it may be
/// another document or no YAML at all. None if the text holds nothing but blanks and comments.
///
/// # Errors
/// What is wrong with the first document, and where.
pub fn load_first(text: &str, options: &Options) -> Result<Option<Document>, Error> {
    Ok(Builder::new(text, options, true)?.read_next()?.map(|(value, spans)| Document { value, spans }))
}

/// As [`load_first`], from bytes that must be UTF-8, without spans.
///
/// # Errors
/// As [`load_first`], and [`ErrorKind::Encoding`].
pub fn load_first_value_bytes(bytes: &[u8], options: &Options) -> Result<Option<Value>, Error> {
    Ok(Builder::new(decode(bytes, options)?, options, false)?.read_next()?.map(|(value, _)| value))
}

/// Reads every document of a text. An empty document between two markers is null.
///
/// # Errors
/// What is wrong with the text, and where. Nothing is returned of the documents before it; to go on after a broken
/// document, take the text apart first ([`split`](crate::split)).
pub fn load_stream(text: &str, options: &Options) -> Result<Vec<Document>, Error> {
    let mut builder = Builder::new(text, options, true)?;
    let mut documents = Vec::new();
    while let Some((value, spans)) = builder.read_next()? {
        documents.push(Document { value, spans });
    }
    Ok(documents)
}

/// As [`load`], from bytes that must be UTF-8.
///
/// # Errors
/// As [`load`], and [`ErrorKind::Encoding`].
pub fn load_bytes(bytes: &[u8], options: &Options) -> Result<Option<Document>, Error> {
    load(decode(bytes, options)?, options)
}

/// As [`load_stream`], from bytes that must be UTF-8.
///
/// # Errors
/// As [`load_stream`], and [`ErrorKind::Encoding`].
pub fn load_stream_bytes(bytes: &[u8], options: &Options) -> Result<Vec<Document>, Error> {
    load_stream(decode(bytes, options)?, options)
}

fn decode<'bytes>(bytes: &'bytes [u8], options: &Options) -> Result<&'bytes str, Error> {
    check_length(bytes.len(), options)?;
    let encoding = |message: &str, position| Error::new(ErrorKind::Encoding, position, message);
    match bytes {
        [0, 0, 0xFE, 0xFF, ..] | [0xFF, 0xFE, 0, 0, ..] => {
            return Err(encoding("the text is in UTF-32; save it as UTF-8", Position::START));
        }
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] => {
            return Err(encoding("the text is in UTF-16; save it as UTF-8", Position::START));
        }
        _ => {}
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok());
        let position = valid.map_or(Position::START, |valid| Position::of_offset(valid, valid.len()));
        encoding("the text is not UTF-8 from here on; save it as UTF-8", position)
    })
}

fn check_length(length: usize, options: &Options) -> Result<(), Error> {
    let limit = options.limits.bytes.min(u32::MAX as usize);
    if length > limit {
        let message = format!("the text is {length} bytes long; at most {limit} are read");
        return Err(Error::limit(LimitKind::Bytes, None, message));
    }
    Ok(())
}
