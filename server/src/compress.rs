//! Compressed representations: which one a client takes, making it, and keeping those of bytes that do not change.
//!
//! Answers that are made anew are compressed quickly each time. Files and archives are told by the digest of their
//! bytes, and what they are compressed is kept under it, so that a publish, which makes every ready answer anew,
//! costs no compression. Every coding is a representation of its own, with an entity tag of its own.

use std::io::Write;

use brotli::enc::BrotliEncoderParams;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, RANGE};
use moka::sync::Cache;
use schema::Digest;

/// Below this, headers cost more than is saved.
const WORTH_IT: usize = 1_024;
/// Above this, bytes go as they are: compressing them costs longer than anybody should wait for the first.
const LARGEST: usize = 4 << 20;
/// Above this, compressing is done beside the threads that answer.
const QUICK: usize = 64 << 10;
/// Memory for compressed forms, in bytes.
const CAPACITY: u64 = 64 << 20;

/// A content coding, the one we like best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Coding {
    /// `zstd`: the quickest by far, and nearly the smallest.
    Zstd,
    /// `br`.
    Brotli,
    /// `gzip`.
    Gzip,
}

impl Coding {
    const ALL: [Coding; 3] = [Coding::Zstd, Coding::Brotli, Coding::Gzip];

    /// The name in headers.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Coding::Zstd => "zstd",
            Coding::Brotli => "br",
            Coding::Gzip => "gzip",
        }
    }

    /// What is added to an entity tag, so that representations have their own.
    pub(crate) const fn tag_suffix(self) -> &'static str {
        match self {
            Coding::Zstd => "-zstd",
            Coding::Brotli => "-br",
            Coding::Gzip => "-gzip",
        }
    }

    /// The value of `Content-Encoding`.
    pub(crate) const fn header(self) -> HeaderValue {
        HeaderValue::from_static(self.as_str())
    }

    /// The bytes in this coding.
    pub(crate) fn pack(self, body: &[u8]) -> Bytes {
        let packed = match self {
            Coding::Zstd => zstd::bulk::compress(body, 3),
            Coding::Brotli => {
                let mut packed = Vec::with_capacity(body.len() / 3);
                let parameters = BrotliEncoderParams { quality: 5, lgwin: 20, ..Default::default() };
                brotli::BrotliCompress(&mut &*body, &mut packed, &parameters).map(|_| packed)
            }
            Coding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 3), Compression::new(5));
                encoder.write_all(body).and_then(|()| encoder.finish())
            }
        };
        Bytes::from(packed.expect("writing to memory does not fail"))
    }
}

/// The coding a client likes best (RFC 9110, section 12.5.3); among those it likes alike, the one we do. None for a
/// request of a range: ranges are of the bytes as they are.
pub(crate) fn negotiated(request: &HeaderMap) -> Option<Coding> {
    // Most tools send neither.
    if !request.contains_key(ACCEPT_ENCODING) || request.contains_key(RANGE) {
        return None;
    }
    let mut weights = [None::<f32>; Coding::ALL.len()];
    let mut others = 0.0;
    for value in request.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()) {
        for item in value.split(',') {
            let mut parts = item.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let weight = parts
                .find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")))
                .map_or(1.0, |weight| weight.parse::<f32>().unwrap_or(0.0));
            let known = Coding::ALL.into_iter().position(|coding| {
                name.eq_ignore_ascii_case(coding.as_str())
                    || coding == Coding::Gzip && name.eq_ignore_ascii_case("x-gzip")
            });
            match known {
                Some(at) => weights[at] = Some(weight),
                None if name == "*" => others = weight,
                None => {}
            }
        }
    }
    let mut best = None::<(Coding, f32)>;
    for (coding, weight) in Coding::ALL.into_iter().zip(weights) {
        let weight = weight.unwrap_or(others);
        if weight > best.map_or(0.0, |(_, best)| best) {
            best = Some((coding, weight));
        }
    }
    best.map(|(coding, _)| coding)
}

/// Whether compressing an answer is worth it.
pub(crate) fn is_worth_it(headers: &HeaderMap, length: usize) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let compressible = [
        "text/",
        "application/json",
        "application/problem+json",
        "application/schema+json",
        "application/atom+xml",
        "application/openmetrics-text",
        "application/yaml",
        "application/javascript",
        "image/svg+xml",
    ];
    (WORTH_IT..=LARGEST).contains(&length)
        && compressible.iter().any(|prefix| content_type.starts_with(prefix))
}

/// What is made of bytes that are known by their digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Form {
    /// A file in a coding.
    Coded(Coding),
    /// The archive of a version.
    Archive,
}

/// Compressed forms of bytes that are known by their digest.
pub(crate) struct Packed(Cache<(Digest, Form), Bytes>);

impl Packed {
    /// None yet.
    pub(crate) fn new() -> Packed {
        let weigh =
            |_: &(Digest, Form), packed: &Bytes| u32::try_from(packed.len() + 128).unwrap_or(u32::MAX);
        Packed(Cache::builder().max_capacity(CAPACITY).weigher(weigh).build())
    }

    /// The body in a coding: as it is kept under its digest, or made now.
    pub(crate) async fn of(&self, digest: Option<&Digest>, coding: Coding, body: &Bytes) -> Bytes {
        if let Some(digest) = digest
            && let Some(packed) = self.0.get(&(*digest, Form::Coded(coding)))
        {
            return packed;
        }
        let packed = pack(coding, body).await;
        if let Some(digest) = digest {
            self.0.insert((*digest, Form::Coded(coding)), packed.clone());
        }
        packed
    }

    /// The archive of the version with this digest, if it is kept.
    pub(crate) fn archive(&self, digest: &Digest) -> Option<Bytes> {
        self.0.get(&(*digest, Form::Archive))
    }

    /// Keeps the archive of a version.
    pub(crate) fn keep_archive(&self, digest: Digest, archive: Bytes) {
        if archive.len() <= LARGEST {
            self.0.insert((digest, Form::Archive), archive);
        }
    }

    /// Bytes that are kept.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.weighted_size()
    }
}

/// The bytes in a coding; a large body beside the threads that answer.
pub(crate) async fn pack(coding: Coding, body: &Bytes) -> Bytes {
    if body.len() <= QUICK {
        return coding.pack(body);
    }
    let whole = body.clone();
    match tokio::task::spawn_blocking(move || coding.pack(&whole)).await {
        Ok(packed) => packed,
        // The runtime is stopping: the answer still goes out.
        Err(_) => coding.pack(body),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn takes(value: &str) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, value.parse().unwrap());
        negotiated(&headers).map(Coding::as_str)
    }

    #[test]
    fn weights_are_read() {
        for (accepted, coding) in [
            ("gzip", Some("gzip")),
            ("br;q=0.5, GZIP;q=1.0", Some("gzip")),
            ("gzip, deflate, br, zstd", Some("zstd")),
            ("gzip, deflate, br", Some("br")),
            ("*", Some("zstd")),
            ("zstd;q=0, *;q=0.5", Some("br")),
            ("gzip;q=0", None),
            ("deflate", None),
            ("gzip;q=nonsense", None),
            ("", None),
        ] {
            assert_eq!(takes(accepted), coding, "{accepted}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, "gzip".parse().unwrap());
        headers.insert(RANGE, "bytes=0-1".parse().unwrap());
        assert_eq!(negotiated(&headers), None);
    }

    #[test]
    fn every_coding_gives_the_bytes_back() {
        let body = "a template, and another template, and another. ".repeat(100).into_bytes();
        let unpacked = |coding: Coding| {
            let (packed, mut out) = (coding.pack(&body), Vec::new());
            assert!(packed.len() < body.len() / 3, "{coding:?}: {}", packed.len());
            match coding {
                Coding::Zstd => out = zstd::decode_all(&*packed).unwrap(),
                Coding::Brotli => brotli::BrotliDecompress(&mut &*packed, &mut out).unwrap(),
                Coding::Gzip => {
                    flate2::read::GzDecoder::new(&*packed).read_to_end(&mut out).unwrap();
                }
            }
            out
        };
        for coding in Coding::ALL {
            assert_eq!(unpacked(coding), body, "{coding:?}");
        }
    }
}
