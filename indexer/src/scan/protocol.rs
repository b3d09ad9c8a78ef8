//! What parent and scan child say to each other: one job down, a stream of messages up.
//!
//! The job is JSON. A frame on the way up is one message after the other, each with its length, the length of the
//! contents it announces, the message as MessagePack, and those contents.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use schema::layout::Collection;
use schema::registry_file::RegistryFile;
use schema::{CollectionName, Digest, Finding, Inspection, Kind, TemplateName, Version};
use serde::{Deserialize, Serialize};

use crate::connection::ReadyConnection;
use crate::history::Bringer;
use crate::source::{Revision, Source};

/// Changes whenever a scan of the same tree could find something else, so that nothing old is taken for known.
const SCAN: &str = concat!(env!("CARGO_PKG_VERSION"), ".2");

/// Largest frame: all files of the largest version, and as much again for its facts.
pub(crate) const LARGEST_FRAME: u64 = 48 << 20;

/// What the child is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Fetch and walk a registry.
    Scan(Box<Job>),
    /// Read one version that comes with the task, unless its content is one of those that were erased.
    Read(Submission, HashSet<Digest>),
}

/// A version that somebody stores here: its place and its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The collection; `None` is the root.
    pub collection: Option<CollectionName>,
    /// The template.
    pub template: TemplateName,
    /// Which version it becomes.
    pub version: Version,
    /// Paths inside the version, and texts.
    pub files: Vec<(String, String)>,
}

/// A registry to be scanned, and what is known of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) source: Source,
    pub(crate) revision: Revision,
    /// How the server is reached: here are the secrets, and the job is neither stored nor logged.
    pub(crate) connection: ReadyConnection,
    /// Where the bare mirror is; for Git sources.
    pub(crate) mirror: PathBuf,
    /// The commit that is published, if all of it was scanned by this very code: what it has need not be looked at.
    pub(crate) published: Option<String>,
    /// The commit that was published last, whoever scanned it: what the branch is expected to follow from.
    pub(crate) before: Option<String>,
    /// Contents that were erased: they are not handed over again.
    pub(crate) erased: HashSet<Digest>,
    /// Versions that were erased as a whole, as `[collection/]template:version`.
    pub(crate) closed: HashSet<String>,
}

/// Names what a scan of a version directory gives: the tree's object id, and the code that scanned it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TreeId(pub(crate) String);

impl TreeId {
    pub(crate) fn of(object: &str) -> TreeId {
        TreeId(format!("{SCAN}:{object}"))
    }

    /// Whether this code made it.
    pub(crate) fn is_ours(id: &str) -> bool {
        id.strip_prefix(SCAN).is_some_and(|rest| rest.starts_with(':'))
    }
}

/// Version directories whose content is known already, by path.
pub(crate) type Known = HashMap<String, TreeId>;

/// A template directory that is walked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Walked {
    pub(crate) collection: Option<CollectionName>,
    /// From the root of the tree; its last segment is the template's name.
    pub(crate) path: String,
}

/// What the child tells of a scan, in this order: `Fetched`, `Walks` for Git, then whatever the walk meets, then `Done`; or `Failed` or
/// `Unchanged` instead of what would follow.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// What will be walked: some template directories, or everything. The parent answers with the [`Known`] of it.
    Walks(Option<Vec<Walked>>),
    Fetched {
        commit: Option<String>,
    },
    Unchanged,
    Collection(Collection),
    /// A version directory whose content is known by its tree id.
    Known {
        collection: Option<CollectionName>,
        template: TemplateName,
        version: Version,
        path: String,
    },
    Version(Box<Scanned>),
    Finding(Finding),
    /// Which commits brought the versions that were read.
    Brought(Vec<Bringer>),
    /// The branch does not follow from the commit that was published last.
    Rewritten,
    Done(Box<RegistryFile>),
    Failed(String),
}

/// A version that can be published.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Scanned {
    pub(crate) collection: Option<CollectionName>,
    pub(crate) template: TemplateName,
    pub(crate) version: Version,
    pub(crate) path: String,
    pub(crate) tree_id: Option<TreeId>,
    pub(crate) kind: Kind,
    pub(crate) entry: String,
    pub(crate) digest: Digest,
    pub(crate) files: Vec<ScannedFile>,
    pub(crate) inspection: Inspection,
    pub(crate) findings: Vec<Finding>,
}

/// A file of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ScannedFile {
    pub(crate) path: String,
    pub(crate) executable: bool,
    pub(crate) size: u64,
    pub(crate) digest: Digest,
    pub(crate) documentation: bool,
    /// Whether its bytes follow the message; they do once for each digest.
    pub(crate) follows: bool,
}

/// A version within its registry, as `[collection/]template:version`.
pub(crate) fn short_name(
    collection: Option<&CollectionName>,
    template: &TemplateName,
    version: &Version,
) -> String {
    match collection {
        Some(collection) => format!("{collection}/{template}:{version}"),
        None => format!("{template}:{version}"),
    }
}

/// Messages gathered into one frame: a frame's way through the pipe costs more than a message.
#[derive(Debug, Default)]
pub(crate) struct Frame(Vec<u8>);

/// A frame of this size is sent without waiting for more.
const FULL: usize = 128 << 10;

impl Frame {
    /// Adds a message and the contents it announces.
    pub(crate) fn add<'a>(&mut self, message: &Message, contents: impl Iterator<Item = &'a [u8]>) {
        let Frame(bytes) = self;
        let start = bytes.len();
        bytes.extend_from_slice(&[0; 8]);
        rmp_serde::encode::write_named(bytes, message).expect("our own flat messages always encode");
        let told = bytes.len();
        contents.for_each(|content| bytes.extend_from_slice(content));
        let lengths = [told - start - 8, bytes.len() - told];
        for (length, at) in lengths.into_iter().zip([start, start + 4]) {
            let length = u32::try_from(length).expect("a version is far below 4 GiB");
            bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
        }
    }

    /// Whether it should be sent now.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= FULL
    }

    /// Its bytes, if it has any; it is empty then.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.0)).filter(|bytes| !bytes.is_empty())
    }
}

/// The messages of a frame, each with what follows it.
pub(crate) fn decode(frame: &[u8]) -> impl Iterator<Item = Result<(Message, &[u8]), String>> {
    let mut rest = frame;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let next = next_message(rest);
        rest = next.as_ref().map_or(&[], |(_, _, rest)| rest);
        Some(next.map(|(message, contents, _)| (message, contents)))
    })
}

fn next_message(bytes: &[u8]) -> Result<(Message, &[u8], &[u8]), String> {
    let cut = || "a frame that is cut short".to_owned();
    let (told, bytes) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
    let (behind, bytes) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
    let length = |bytes: &[u8; 4]| u32::from_be_bytes(*bytes) as usize;
    let (message, bytes) = bytes.split_at_checked(length(told)).ok_or_else(cut)?;
    let (contents, rest) = bytes.split_at_checked(length(behind)).ok_or_else(cut)?;
    let message =
        rmp_serde::from_slice(message).map_err(|error| format!("a message that cannot be read: {error}"))?;
    Ok((message, contents, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_frame_come_out_as_they_went_in_and_a_cut_is_noticed() {
        let mut frame = Frame::default();
        frame.add(&Message::Fetched { commit: Some("c".repeat(40)) }, std::iter::empty());
        frame.add(&Message::Failed("why".to_owned()), [&b"ab"[..], &b"c"[..]].into_iter());
        let bytes = frame.take().unwrap();
        assert!(frame.take().is_none());
        let all = decode(&bytes).collect::<Result<Vec<_>, _>>().unwrap();
        assert_eq!(all.iter().map(|(_, contents)| *contents).collect::<Vec<_>>(), [&b""[..], &b"abc"[..]]);
        assert!(matches!(&all[1].0, Message::Failed(why) if why == "why"));
        for cut in 1..bytes.len() {
            let some = decode(&bytes[..cut]).collect::<Vec<_>>();
            assert!(
                some.len() <= 2 && (some.len() == 1 && some[0].is_ok() || some.iter().any(Result::is_err)),
                "{cut}"
            );
        }
    }
}
