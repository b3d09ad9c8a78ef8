//! What tells this build of the program from any other: both ends of a pipe must be the same build, for their
//! messages carry no version.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::OnceLock;

/// The identity of the running executable.
///
/// It is the linker's build id where there is one: a hash of the program, the same on every machine. Otherwise
/// it is the file's size and time, which still tells a replaced file from the one that runs. It is read once,
/// from the file that runs, even if another has taken its name since.
pub fn build_id() -> &'static str {
    static BUILD_ID: OnceLock<String> = OnceLock::new();
    BUILD_ID.get_or_init(|| {
        let version = env!("CARGO_PKG_VERSION");
        let Ok(file) = File::open("/proc/self/exe") else { return format!("{version}-unknown") };
        if let Some(id) = linker_build_id(|offset, length| bytes_at(&file, offset, length)) {
            return format!("{version}-{id}");
        }
        match file.metadata() {
            Ok(data) => format!("{version}-{:x}-{:x}-{:x}", data.size(), data.mtime(), data.mtime_nsec()),
            Err(_) => format!("{version}-unknown"),
        }
    })
}

fn bytes_at(file: &File, offset: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, offset).ok()?;
    Some(bytes)
}

/// The `NT_GNU_BUILD_ID` note of a 64-bit little-endian ELF file, in hexadecimal (System V ABI, chapters 4 and 5).
fn linker_build_id(read: impl Fn(u64, usize) -> Option<Vec<u8>>) -> Option<String> {
    const NOTE_SEGMENT: u32 = 4;
    const BUILD_ID_NOTE: u32 = 3;
    const LARGEST_NOTES: u64 = 64 << 10;

    let header = read(0, 64)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size, count) = (long(&header, 32)?, short(&header, 54)?, short(&header, 56)?);
    for index in 0..u64::from(count) {
        let segment = read(table + index * u64::from(size), 56)?;
        let (offset, length) = (long(&segment, 8)?, long(&segment, 32)?);
        if word(&segment, 0)? != NOTE_SEGMENT || length > LARGEST_NOTES {
            continue;
        }
        let notes = read(offset, usize::try_from(length).ok()?)?;
        let mut rest = notes.as_slice();
        while rest.len() >= 12 {
            let (name, description, kind) =
                (word(rest, 0)? as usize, word(rest, 4)? as usize, word(rest, 8)?);
            let start = 12 + name.next_multiple_of(4);
            if kind == BUILD_ID_NOTE && rest.get(12..16) == Some(b"GNU\0") {
                let id = rest.get(start..start + description)?;
                return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
            }
            rest = rest.get(start + description.next_multiple_of(4)..).unwrap_or_default();
        }
    }
    None
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one note segment, holding another vendor's note and then the build id.
    fn elf() -> Vec<u8> {
        let mut notes = Vec::new();
        for (name, kind, description) in
            [(&b"Other\0\0\0"[..], 3, &[9; 5][..]), (b"GNU\0", 3, &[0xab, 0x01, 0xff])]
        {
            let name_length = if name.len() == 8 { 6 } else { 4_u32 };
            notes.extend(name_length.to_le_bytes());
            notes.extend(u32::try_from(description.len()).unwrap().to_le_bytes());
            notes.extend(u32::to_le_bytes(kind));
            notes.extend(name);
            notes.extend(description);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        let mut file = vec![0; 64 + 56];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[32..40].copy_from_slice(&64_u64.to_le_bytes());
        file[54..56].copy_from_slice(&56_u16.to_le_bytes());
        file[56..58].copy_from_slice(&1_u16.to_le_bytes());
        file[64..68].copy_from_slice(&4_u32.to_le_bytes());
        file[72..80].copy_from_slice(&120_u64.to_le_bytes());
        file[96..104].copy_from_slice(&(notes.len() as u64).to_le_bytes());
        file.extend(notes);
        file
    }

    fn id_of(file: &[u8]) -> Option<String> {
        linker_build_id(|offset, length| {
            let offset = usize::try_from(offset).ok()?;
            file.get(offset..offset + length).map(<[u8]>::to_vec)
        })
    }

    #[test]
    fn the_note_is_found_behind_others() {
        assert_eq!(id_of(&elf()).as_deref(), Some("ab01ff"));
    }

    #[test]
    fn a_file_cut_anywhere_gives_nothing_and_no_panic() {
        let file = elf();
        for end in 0..file.len() - 4 {
            assert_eq!(id_of(&file[..end]), None, "cut at {end}");
        }
    }

    #[test]
    fn this_program_has_one() {
        assert_eq!(build_id(), build_id());
        assert!(!build_id().ends_with("unknown"), "{}", build_id());
    }
}
