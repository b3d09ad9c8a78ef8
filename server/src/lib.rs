//! How answers get out: the HTTP API, the pages, and what runs them.
//!
//! A request passes `front`, which answers the hot routes from memory and gives the rest to `router`; handlers in
//! `api` and `pages` read one snapshot of the catalogue and say what they found in the forms of `wire`; `processing`
//! is the host of the engine. Who asks, and what they may do, is `access`'s; each handler takes it as an argument. `listener` has the sockets. Errors: read `error` first.
//!
//! This crate must not know how anything is stored, indexed or processed, and nothing here runs SQL, Git or a
//! template. It is the only one with axum.

#![expect(
    clippy::result_large_err,
    reason = "an error is made once a request and moved a few times; a box would save nothing"
)]

mod access;
mod access_log;
mod api;
mod archive;
mod assets;
mod body;
mod cache;
mod compress;
mod content_type;
mod cors;
mod dm;
mod error;
mod examples;
mod front;
mod kubernetes;
mod limits;
mod listener;
mod markdown;
mod memo;
mod metrics;
mod objects;
mod pages;
mod previews;
mod processing;
mod range;
mod ready;
mod reports;
mod repository;
mod request_id;
mod router;
mod source;
mod stall;
mod state;
mod target;
mod time;
pub mod tokens;
mod ui;
mod view;
mod webhooks;

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use catalog::{Catalog, DeploymentLimits};
use indexer::{Indexer, Remote};
use schema::RegistryName;
use schema::reference::Home;
use worker::Pool;

pub use access_log::AccessLog;
pub use front::{AnswerBody, Answering, Front};
pub use limits::{Rate, RateError, RateLimits};
pub use listener::Server;
pub use state::{BoxFuture, Processor, Syncs};
pub use webhooks::{Secret as WebhookSecret, SecretError as WebhookSecretError, Webhooks};

/// The registry that templates are kept in that clients store here, unless the operator says another.
pub const HOSTED: &str = "localhost/hosted/templates";

/// How to serve.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The URL others reach this server at, without a path. Only with it are URLs in answers absolute.
    pub public_url: Option<String>,
    /// Serve TLS with this certificate.
    pub tls: Option<Tls>,
    /// Where short references go.
    pub home: Option<Home>,
    /// From which URLs templates may be fetched, and how.
    pub remote: Remote,
    /// Where requests are logged.
    pub access_log: AccessLog,
    /// The registry that templates are kept in that clients store here.
    pub hosted: RegistryName,
    /// What deliveries of webhooks are made with.
    pub webhooks: Webhooks,
    /// How much clients of Deployment Manager may keep here.
    pub deployments: DeploymentLimits,
    /// Connections at a time; further ones wait to be accepted.
    pub connections: usize,
    /// How much one client may ask for.
    pub limits: RateLimits,
}

/// A certificate chain and its key, in PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The chain, leaf first.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

impl ServerConfig {
    /// Listening there, without TLS, public URL, home, access log or webhooks, and with the usual limits.
    pub fn new(listen: SocketAddr) -> ServerConfig {
        ServerConfig {
            listen,
            public_url: None,
            tls: None,
            home: None,
            remote: Remote::default(),
            hosted: HOSTED.parse().expect("it is a host and two segments"),
            access_log: AccessLog::Off,
            webhooks: Webhooks::default(),
            deployments: DeploymentLimits::default(),
            connections: 10_000,
            limits: RateLimits::default(),
        }
    }
}

/// Why there is nothing listening.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {listen}: {cause}; choose another address with --listen")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The access log cannot be opened.
    #[error("cannot open the access log: {0}")]
    AccessLog(std::io::Error),
    /// The public URL is none.
    #[error("`{url}` is no public URL: {why}; write a scheme and a host, like https://templates.example.com")]
    PublicUrl {
        /// What was given.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The certificate or key cannot be used.
    #[error("{}: {why}", .path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// Serves until `shutdown`, then lets requests under way finish.
///
/// # Errors
/// When nothing can be listened on, or the configuration cannot be used.
pub async fn serve(
    config: ServerConfig,
    catalog: Catalog,
    pool: Arc<Pool>,
    indexer: Arc<Indexer>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    Server::bind(config, catalog, Box::new(pool), Box::new(indexer)).await?.run(shutdown).await;
    Ok(())
}
