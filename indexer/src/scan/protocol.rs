//! What parent and scan child say to each other: one job down, a stream of messages up.
//!
//! A frame is the length of a JSON message, the message, and the contents it announces, one after the other.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use schema::layout::Collection;
use schema::registry_file::RegistryFile;
use schema::{CollectionName, Digest, Finding, Inspection, Kind, TemplateName, Version};
use serde::{Deserialize, Serialize};

use crate::history::Bringer;
use crate::source::Source;

/// Changes whenever a scan of the same tree could find something else, so that nothing old is taken for known.
const SCAN: &str = concat!(env!("CARGO_PKG_VERSION"), ".2");

/// Largest frame: all files of the largest version, and as much again for its facts.
pub(crate) const LARGEST_FRAME: u64 = 48 << 20;

/// What the child is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) source: Source,
    pub(crate) branch: Option<String>,
    /// Where the bare mirror is; for Git sources.
    pub(crate) mirror: PathBuf,
    /// Version directories whose content is known already, by path.
    pub(crate) known: HashMap<String, TreeId>,
    /// The commit that is published, if all of it was scanned by this very code.
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

/// What the child tells, in this order: `Fetched`, then whatever the walk meets, then `Done`; or `Failed` or
/// `Unchanged` instead of what would follow.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
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

/// A message and the contents behind it, as one frame.
pub(crate) fn encode<'a>(message: &Message, contents: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let json = serde_json::to_vec(message).expect("messages are plain data with text keys");
    let mut frame = Vec::with_capacity(json.len() + 4);
    frame.extend_from_slice(&(json.len() as u32).to_be_bytes());
    frame.extend_from_slice(&json);
    contents.for_each(|content| frame.extend_from_slice(content));
    frame
}

/// The message of a frame, and what follows it.
pub(crate) fn decode(frame: &[u8]) -> Result<(Message, &[u8]), String> {
    let (length, rest) = frame.split_first_chunk::<4>().ok_or("a frame without a message")?;
    let length = u32::from_be_bytes(*length) as usize;
    let (json, contents) = rest.split_at_checked(length).ok_or("a frame that is cut short")?;
    let message =
        serde_json::from_slice(json).map_err(|error| format!("a message that cannot be read: {error}"))?;
    Ok((message, contents))
}
