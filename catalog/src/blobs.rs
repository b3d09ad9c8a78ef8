//! Bytes by digest: stored once, compressed, and kept in memory as far as there is room.
//!
//! The store holds zstd frames where they are smaller than the bytes; the cache holds the bytes themselves, ready to
//! be sent, weighed by their length. Storing warms the cache and so does opening, newest first, until it is full; so
//! a server that just started answers from memory too. Bytes are checked against their digest when they come in and
//! whenever they come back from the disk: what is served under a digest has that digest.

use bytes::Bytes;
use futures_util::TryStreamExt;
use moka::sync::Cache;
use schema::Digest;

use crate::error::{StoreError, WriteError};
use crate::store::Store;

/// The level at which zstd is still faster than the disk.
const LEVEL: i32 = 3;
/// What a cached entry costs beside its bytes.
const OVERHEAD: u32 = 128;

const RAW: i64 = 0;
const ZSTD: i64 = 1;

/// Bytes in memory.
#[derive(Debug, Clone)]
pub(crate) struct Blobs {
    cache: Cache<Digest, Bytes>,
    capacity: u64,
}

impl Blobs {
    /// An empty cache of `capacity` bytes.
    pub(crate) fn new(capacity: u64) -> Blobs {
        let weigh = |_: &Digest, bytes: &Bytes| {
            u32::try_from(bytes.len()).unwrap_or(u32::MAX).saturating_add(OVERHEAD)
        };
        Blobs { cache: Cache::builder().max_capacity(capacity).weigher(weigh).build(), capacity }
    }

    /// Bytes, if they are in memory.
    pub(crate) fn get(&self, digest: &Digest) -> Option<Bytes> {
        self.cache.get(digest)
    }

    /// Bytes, from memory or from the store; `None` if nobody stored them.
    pub(crate) async fn get_or_load(
        &self,
        store: &Store,
        digest: &Digest,
    ) -> Result<Option<Bytes>, StoreError> {
        if let Some(bytes) = self.get(digest) {
            return Ok(Some(bytes));
        }
        let Some((size, encoding, content)) = store.load_blob(digest).await? else { return Ok(None) };
        let bytes = decode(store, digest, size, encoding, content)?;
        self.cache.insert(*digest, bytes.clone());
        Ok(Some(bytes))
    }

    /// Checks bytes against their digests and stores those that are not stored yet. One transaction: keep batches
    /// small.
    pub(crate) async fn put(&self, store: &Store, batch: Vec<(Digest, Vec<u8>)>) -> Result<(), WriteError> {
        let encoded = tokio::task::spawn_blocking(move || encode(batch));
        let encoded = encoded.await.map_err(|_| WriteError::Closed)??;
        let (rows, bytes): (Vec<_>, Vec<_>) = encoded.into_iter().unzip();
        store.put_blobs(rows).await?;
        for (digest, bytes) in bytes {
            self.cache.insert(digest, bytes);
        }
        Ok(())
    }

    /// Fills the cache from the store, newest first. The statement was counted when `warming` was made.
    pub(crate) async fn warm(
        &self,
        store: &Store,
        warming: crate::store::Warming,
    ) -> Result<usize, StoreError> {
        let mut rows = store.warm_blobs(warming);
        let (mut filled, mut count) = (0u64, 0);
        while let Some((digest, size, encoding, content)) = rows.try_next().await? {
            filled += size as u64 + u64::from(OVERHEAD);
            if filled > self.capacity {
                break;
            }
            let bytes = decode(store, &digest, size, encoding, content)?;
            self.cache.insert(digest, bytes);
            count += 1;
            if count % 64 == 0 {
                tokio::task::yield_now().await;
            }
        }
        Ok(count)
    }

    /// Forgets bytes that are in memory.
    pub(crate) fn forget(&self, digest: &Digest) {
        self.cache.invalidate(digest);
    }

    /// Entries and bytes in memory, roughly.
    pub(crate) fn size(&self) -> (u64, u64) {
        (self.cache.entry_count(), self.cache.weighted_size())
    }
}

type Encoded = ((Digest, usize, i64, Vec<u8>), (Digest, Bytes));

fn encode(batch: Vec<(Digest, Vec<u8>)>) -> Result<Vec<Encoded>, WriteError> {
    // One for the batch: setting it up costs more than a small file.
    let mut compressor = zstd::bulk::Compressor::new(LEVEL).ok();
    let encode_one = |(named, content): (Digest, Vec<u8>)| {
        let found = Digest::of(&content);
        if found != named {
            return Err(WriteError::Digest { named, found });
        }
        let packed = compressor.as_mut().and_then(|compressor| compressor.compress(&content).ok());
        let packed = packed.filter(|packed| packed.len() < content.len());
        let row = match packed {
            Some(packed) => (named, content.len(), ZSTD, packed),
            None => (named, content.len(), RAW, content.clone()),
        };
        Ok((row, (named, Bytes::from(content))))
    };
    batch.into_iter().map(encode_one).collect()
}

/// The bytes of a row, if they are what its digest says.
pub(crate) fn decode(
    store: &Store,
    digest: &Digest,
    size: i64,
    encoding: i64,
    content: Vec<u8>,
) -> Result<Bytes, StoreError> {
    let content = match encoding {
        RAW => Some(content),
        ZSTD => usize::try_from(size).ok().and_then(|size| zstd::bulk::decompress(&content, size).ok()),
        _ => None,
    };
    match content.filter(|content| Digest::of(content) == *digest) {
        Some(content) => Ok(Bytes::from(content)),
        None => Err(store.damaged(format!("the bytes kept as {digest} are others"))),
    }
}
