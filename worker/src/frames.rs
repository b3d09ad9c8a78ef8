//! Length-prefixed messages over a pipe between two of our own processes.
//!
//! A frame is the four bytes `FWK1`, the payload's length as a little-endian `u32`, and the payload. The mark is
//! there so that a stray `println!` is told apart from a message that is too long. This module does not know
//! what a payload means.

use std::io::{self, Read, Write};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const MARK: [u8; 4] = *b"FWK1";
const HEADER: usize = 8;

/// Why no frame could be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// What came is not a frame.
    #[error("what came over the pipe is not a message: it begins with {0:?}")]
    NotAFrame(String),
    /// The frame is longer than the reader takes, or than a frame can be.
    #[error("a message of {length} bytes is above the limit of {limit}")]
    TooLong {
        /// Bytes of its payload.
        length: u64,
        /// Bytes that would have been taken.
        limit: u64,
    },
    /// The pipe ended within a frame.
    #[error("the pipe closed in the middle of a message")]
    Cut,
    /// The system said no.
    #[error("the pipe failed: {0}")]
    Io(#[from] io::Error),
}

/// Writes one frame and flushes.
///
/// # Errors
/// When the pipe fails, or the payload is longer than 4 GiB.
pub fn write(mut to: impl Write, payload: &[u8]) -> Result<(), FrameError> {
    to.write_all(&header(payload)?)?;
    to.write_all(payload)?;
    Ok(to.flush()?)
}

/// Reads one frame of at most `limit` bytes; nothing if the other end closed between two frames.
///
/// # Errors
/// When what comes is no frame, is too long, is cut short, or the pipe fails.
pub fn read(mut from: impl Read, limit: u64) -> Result<Option<Vec<u8>>, FrameError> {
    let mut head = [0; HEADER];
    let mut filled = 0;
    while filled < HEADER {
        match from.read(&mut head[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(FrameError::Cut),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    let length = length(head, limit)?;
    let mut payload = Vec::new();
    from.take(length).read_to_end(&mut payload)?;
    whole(payload, length).map(Some)
}

/// [`write`] for the side that must not block.
///
/// # Errors
/// As [`write`].
pub async fn write_async(mut to: impl AsyncWrite + Unpin, payload: &[u8]) -> Result<(), FrameError> {
    to.write_all(&header(payload)?).await?;
    to.write_all(payload).await?;
    Ok(to.flush().await?)
}

/// [`read`] for the side that must not block. Not cancel-safe: a reader that gives up must close the pipe.
///
/// # Errors
/// As [`read`].
pub async fn read_async(mut from: impl AsyncRead + Unpin, limit: u64) -> Result<Option<Vec<u8>>, FrameError> {
    let mut head = [0; HEADER];
    let mut filled = 0;
    while filled < HEADER {
        match from.read(&mut head[filled..]).await? {
            0 if filled == 0 => return Ok(None),
            0 => return Err(FrameError::Cut),
            count => filled += count,
        }
    }
    let length = length(head, limit)?;
    let mut payload = Vec::new();
    from.take(length).read_to_end(&mut payload).await?;
    whole(payload, length).map(Some)
}

fn header(payload: &[u8]) -> Result<[u8; HEADER], FrameError> {
    let length = u32::try_from(payload.len())
        .map_err(|_| FrameError::TooLong { length: payload.len() as u64, limit: u32::MAX.into() })?;
    let mut head = [0; HEADER];
    head[..4].copy_from_slice(&MARK);
    head[4..].copy_from_slice(&length.to_le_bytes());
    Ok(head)
}

/// The payload's length. Nothing is allocated on its word alone: readers grow as bytes arrive.
fn length(head: [u8; HEADER], limit: u64) -> Result<u64, FrameError> {
    let [mark @ .., a, b, c, d] = head;
    if mark != MARK {
        return Err(FrameError::NotAFrame(String::from_utf8_lossy(&head).into_owned()));
    }
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    if length > limit { Err(FrameError::TooLong { length, limit }) } else { Ok(length) }
}

fn whole(payload: Vec<u8>, length: u64) -> Result<Vec<u8>, FrameError> {
    if payload.len() as u64 == length { Ok(payload) } else { Err(FrameError::Cut) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_written_is_read_and_any_cut_is_noticed(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..5),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut pipe = Vec::new();
            let mut ends = vec![0];
            for payload in &payloads {
                write(&mut pipe, payload).unwrap();
                ends.push(pipe.len());
            }
            let mut reader = pipe.as_slice();
            for payload in &payloads {
                prop_assert_eq!(&read(&mut reader, 300).unwrap().unwrap(), payload);
            }
            prop_assert!(read(&mut reader, 300).unwrap().is_none());

            let cut = cut.index(pipe.len() + 1);
            let mut reader = &pipe[..cut];
            let last = loop {
                match read(&mut reader, 300) {
                    Ok(Some(_)) => {}
                    other => break other,
                }
            };
            prop_assert_eq!(last.is_ok(), ends.contains(&cut));
        }
    }

    #[test]
    fn text_is_no_frame_and_a_long_frame_is_refused_before_it_is_read() {
        assert!(matches!(read(&b"hello, world"[..], 100), Err(FrameError::NotAFrame(_))));
        let mut pipe = Vec::new();
        write(&mut pipe, &[7; 101]).unwrap();
        let refused = read(pipe.as_slice(), 100);
        assert!(matches!(refused, Err(FrameError::TooLong { length: 101, limit: 100 })));
    }
}
