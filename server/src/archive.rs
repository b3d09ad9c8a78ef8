//! Archives: all files of a version as one `.tar.gz`, the same bytes for the same digest whoever asks for it and when.
//!
//! What differs from machine to machine is left out: entries are sorted by path, belong to nobody, are of 1970 and
//! have one of two modes. Nothing in one can be set-uid, absolute, outside, a link or a device: the paths are those
//! of the version, which were checked when it was published, and every entry is a plain file. There is no directory
//! around the files, for two versions of the same content have one archive. The bytes depend on the compressor too: a
//! test holds them, so that a new one is noticed.

use std::io::Write;

use bytes::Bytes;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// A file that goes into an archive.
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) executable: bool,
    pub(crate) body: Bytes,
}

/// The archive of these files.
pub(crate) fn archive(mut entries: Vec<Entry>) -> Result<Bytes, std::io::Error> {
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    // No name, no time; and the system it was made on is unknown.
    let gzip: GzEncoder<Vec<u8>> =
        GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::new(6));
    let mut builder = Builder::new(gzip);
    for entry in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(if entry.executable { 0o755 } else { 0o644 });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(entry.body.len() as u64);
        builder.append_data(&mut header, &entry.path, &*entry.body)?;
    }
    let mut gzip = builder.into_inner()?;
    gzip.flush()?;
    Ok(Bytes::from(gzip.finish()?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use flate2::read::GzDecoder;
    use schema::Digest;

    use super::*;

    fn entries() -> Vec<Entry> {
        let long = format!("docs/{}/{}.md", "d".repeat(90), "f".repeat(90));
        [("redis.yaml", false), ("bin/run", true), ("README.md", false), (&long, false)]
            .map(|(path, executable)| Entry {
                path: path.to_owned(),
                executable,
                body: Bytes::from(path.repeat(3)),
            })
            .into()
    }

    /// Attack row 36: nothing of the machine, of users or of time is in an archive, and no mode but two.
    #[test]
    fn attack_row_36_archives_are_the_same_everywhere() {
        let archived = archive(entries()).unwrap();
        let mut turned = entries();
        turned.reverse();
        assert_eq!(archive(turned).unwrap(), archived);
        assert_eq!(archived[3..10], [0, 0, 0, 0, 0, 0, 255], "no name, no time, no system");
        let mut tar = tar::Archive::new(GzDecoder::new(&archived[..]));
        let mut found = BTreeMap::new();
        for entry in tar.entries().unwrap() {
            let mut entry = entry.unwrap();
            let header = entry.header().clone();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()), (0, 0, 0));
            assert_eq!((header.username(), header.groupname()), (Ok(Some("")), Ok(Some(""))));
            assert_eq!(header.entry_type(), EntryType::Regular);
            let path = entry.path().unwrap().display().to_string();
            let mut body = String::new();
            entry.read_to_string(&mut body).unwrap();
            assert_eq!(body, path.repeat(3));
            found.insert(path, header.mode().unwrap());
        }
        let modes = found.values().copied().collect::<Vec<_>>();
        assert_eq!((found.len(), found["bin/run"]), (4, 0o755));
        assert_eq!(modes.iter().filter(|mode| **mode == 0o644).count(), 3);
    }

    /// Who pins an archive by its own sum relies on this: a change here is one to write into the changelog.
    #[test]
    fn the_bytes_of_an_archive_are_held() {
        insta::assert_snapshot!(
            Digest::of(&archive(entries()).unwrap()),
            @"sha256:fceadf659ad9480bf1ef656303f4014a87e3904d8f198e9f29a6764b4fa8fb82"
        );
    }
}
