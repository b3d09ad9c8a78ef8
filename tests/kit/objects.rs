//! Git objects and packs written byte by byte: also those that no git program would make.

use std::collections::BTreeSet;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest, Sha1};

/// The name of an object.
pub(crate) type Id = [u8; 20];

/// What an entry of a pack is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Commit = 1,
    Tree = 2,
    Blob = 3,
    OffsetDelta = 6,
}

/// A pack in the making.
#[derive(Default, Clone)]
pub(crate) struct Pack {
    entries: Vec<Vec<u8>>,
    /// What is in it: once is enough.
    objects: BTreeSet<Id>,
}

/// An entry of a tree: mode, name, what is there.
pub(crate) type TreeEntry<'a> = (&'a str, &'a [u8], Id);

pub(crate) const FILE: &str = "100644";
pub(crate) const DIRECTORY: &str = "40000";
pub(crate) const LINK: &str = "120000";
pub(crate) const SUBMODULE: &str = "160000";

impl Pack {
    pub(crate) fn blob(&mut self, bytes: &[u8]) -> Id {
        self.object(Kind::Blob, "blob", bytes)
    }

    /// A tree of these entries, in this order.
    pub(crate) fn tree(&mut self, entries: &[TreeEntry<'_>]) -> Id {
        let mut bytes = Vec::new();
        for (mode, name, id) in entries {
            bytes.extend_from_slice(format!("{mode} ").as_bytes());
            bytes.extend_from_slice(name);
            bytes.push(0);
            bytes.extend_from_slice(id);
        }
        self.object(Kind::Tree, "tree", &bytes)
    }

    pub(crate) fn commit(&mut self, tree: Id) -> Id {
        let who = "Somebody <somebody@example.com> 1767225600 +0000";
        let text =
            format!("tree {}\nauthor {who}\ncommitter {who}\n\nMade byte by byte\n", hex::encode(tree));
        self.object(Kind::Commit, "commit", text.as_bytes())
    }

    /// An entry whose header says `size`, whatever follows it. Gives where it begins, for deltas on it.
    pub(crate) fn entry(&mut self, kind: Kind, size: u64, prefix: &[u8], compressed: &[u8]) -> usize {
        let at = 12 + self.entries.iter().map(Vec::len).sum::<usize>();
        let mut bytes = Vec::new();
        let mut rest = size >> 4;
        let mut byte = ((kind as u8) << 4) | (size & 15) as u8;
        while rest > 0 {
            bytes.push(byte | 0x80);
            byte = (rest & 0x7f) as u8;
            rest >>= 7;
        }
        bytes.push(byte);
        bytes.extend_from_slice(prefix);
        bytes.extend_from_slice(compressed);
        self.entries.push(bytes);
        at
    }

    /// A delta that makes `size` bytes of the entry that begins at `base` and has `base_size` bytes, by copying all
    /// of it again and again.
    pub(crate) fn doubling(&mut self, base: usize, base_size: u64, size: u64) -> usize {
        let at = 12 + self.entries.iter().map(Vec::len).sum::<usize>();
        let mut delta = Vec::new();
        for mut number in [base_size, size] {
            while number > 0x7f {
                delta.push((number & 0x7f) as u8 | 0x80);
                number >>= 7;
            }
            delta.push(number as u8);
        }
        const STEP: u64 = 0x80_0000;
        for _ in 0..size / STEP {
            // Copy from the beginning: three bytes of size, none of offset.
            delta.extend_from_slice(&[0x80 | 0x40 | 0x20 | 0x10, 0, 0, 0x80]);
        }
        let mut distance = (at - base) as u64;
        let mut prefix = vec![(distance & 0x7f) as u8];
        while distance > 0x7f {
            distance = (distance >> 7) - 1;
            prefix.insert(0, (distance & 0x7f) as u8 | 0x80);
        }
        self.entry(Kind::OffsetDelta, delta.len() as u64, &prefix, &deflated(&delta))
    }

    fn object(&mut self, kind: Kind, name: &str, bytes: &[u8]) -> Id {
        let mut hasher = Sha1::new();
        hasher.update(format!("{name} {}\0", bytes.len()));
        hasher.update(bytes);
        let id = hasher.finalize().into();
        if self.objects.insert(id) {
            self.entry(kind, bytes.len() as u64, &[], &deflated(bytes));
        }
        id
    }

    /// The pack as it travels.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = header(self.entries.len() as u32);
        self.entries.iter().for_each(|entry| bytes.extend_from_slice(entry));
        let sum = Sha1::digest(&bytes);
        bytes.extend_from_slice(&sum);
        bytes
    }
}

/// The first bytes of a pack.
pub(crate) fn header(entries: u32) -> Vec<u8> {
    let mut bytes = b"PACK\0\0\0\x02".to_vec();
    bytes.extend_from_slice(&entries.to_be_bytes());
    bytes
}

pub(crate) fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("a vector takes everything");
    encoder.finish().expect("a vector takes everything")
}
