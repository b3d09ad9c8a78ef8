//! The files of a version.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One file of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct File {
    /// The path inside the version.
    #[schema(example = "redis.yaml")]
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// Whether Git marks it executable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// The SHA-256 of its bytes.
    #[schema(example = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
    pub digest: String,
    /// Where its bytes are for ever: by the digest of the version.
    pub url: String,
}

/// The listing of one version's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileList {
    /// The exact reference whose files these are.
    pub reference: String,
    /// The digest of the version.
    pub digest: String,
    /// The files, sorted by path.
    pub files: Vec<File>,
}
