//! Finding registries at GitHub: the repositories of an organisation or a user that say they are one.
//!
//! [`Github::discover`] lists repositories page by page ([`client`]), keeps those with a topic or with a `registry.yaml`
//! ([`discovery`]), and gives each as a registry name with its clone URL. Requests carry a token, or one that a GitHub
//! App is given for an hour ([`authentication`], [`jwt`]); limits are waited for ([`limits`]), pages that did not change
//! are not sent again.
//!
//! It must not know what becomes of what is found: not the catalogue, not how a repository is fetched. It is the only
//! crate with octocrab, and no type of octocrab is in its interface.

mod authentication;
mod client;
mod discovery;
mod jwt;
mod limits;

pub use authentication::{App, Credentials, PrivateKey, PrivateKeyError, Token};
pub use client::{Api, ApiError, GithubError};
pub use discovery::{Config, Find, Found, Github, TOPIC};
