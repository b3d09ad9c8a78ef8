//! The settings of `serve`: flag, then `FORMWORK_…`, then file, then default; each knows where it came from.

mod deployments;
#[cfg(feature = "github")]
mod github;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexer::{Addresses, Connection, RegistryConfig, SshOptions};
use schema::reference::Home;
use schema::remote::{AllowedUrls, UrlPrefix};
use schema::{CollectionName, RegistryName};
use serde::{Deserialize, Serialize};
use server::{Rate, RateError, RateLimits, WebhookSecret, Webhooks};
use toml::Spanned;

use crate::arguments::{self, ServeArguments};
use crate::registries::{FileRegistry, registries};
use crate::secret::SecretSource;

pub(crate) use self::deployments::Deployments;
#[cfg(feature = "github")]
pub(crate) use self::github::Discovery;

/// The file that is read when none is named.
const DEFAULT_FILE: &str = "formwork.toml";

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Origin {
    Flag(&'static str),
    Environment(String),
    File { path: PathBuf, line: usize, column: usize },
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(flag) => f.write_str(flag),
            Origin::Environment(name) => f.write_str(name),
            Origin::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// A setting that is wrong: one line with the key and where it was given.
#[derive(Debug, thiserror::Error)]
#[error("{key}: {message} (from {origin})")]
pub(crate) struct SettingError {
    pub(crate) key: String,
    pub(crate) message: String,
    pub(crate) origin: Origin,
}

/// A value and where it came from.
#[derive(Debug, Clone)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

/// Everything `serve` needs to know.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) listen: Setting<std::net::SocketAddr>,
    pub(crate) data: Setting<PathBuf>,
    /// Where compiled Python is kept; within the data directory if nothing else is said.
    pub(crate) python_cache: Setting<Option<PathBuf>>,
    pub(crate) public_url: Setting<Option<String>>,
    pub(crate) tls_cert: Setting<Option<PathBuf>>,
    pub(crate) tls_key: Setting<Option<PathBuf>>,
    pub(crate) workers: Setting<usize>,
    pub(crate) poll: Setting<Duration>,
    pub(crate) remove_unlisted: Setting<bool>,
    pub(crate) settle: Setting<Duration>,
    pub(crate) drop_share: Setting<u8>,
    pub(crate) access_log: Setting<Option<PathBuf>>,
    /// How much one client may ask for.
    pub(crate) rate_limit: Setting<Option<Rate>>,
    pub(crate) rate_limit_search: Setting<Option<Rate>>,
    pub(crate) rate_limit_process: Setting<Option<Rate>>,
    pub(crate) home: Setting<Option<Home>>,
    pub(crate) webhook_secret: Setting<Option<SecretSource>>,
    /// What is in the sources of secrets: one for all registries, and each registry's own.
    pub(crate) webhooks: Webhooks,
    #[cfg(feature = "github")]
    pub(crate) discovery: Option<Setting<Discovery>>,
    /// Bytes one fetch may receive.
    pub(crate) fetch_limit: Setting<u64>,
    /// Time one fetch and scan may take.
    pub(crate) fetch_time: Setting<Duration>,
    /// How much clients of Deployment Manager may keep.
    pub(crate) deployments: Deployments,
    pub(crate) ca_file: Setting<Option<PathBuf>>,
    pub(crate) ssh_key: Setting<Option<PathBuf>>,
    pub(crate) known_hosts: Setting<Option<PathBuf>>,
    /// Whether registries added over the API may be at addresses that are not public.
    pub(crate) allow_private_addresses: Setting<bool>,
    /// Where templates behind URLs may be fetched from.
    pub(crate) allow_url: Setting<AllowedUrls>,
    pub(crate) registries: Vec<Setting<RegistryConfig>>,
}

/// `formwork.toml`, as typed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    listen: Option<Spanned<String>>,
    data: Option<Spanned<String>>,
    python_cache: Option<Spanned<String>>,
    public_url: Option<Spanned<String>>,
    tls_cert: Option<Spanned<String>>,
    tls_key: Option<Spanned<String>>,
    workers: Option<Spanned<u16>>,
    poll: Option<Spanned<String>>,
    remove_unlisted: Option<Spanned<bool>>,
    settle: Option<Spanned<String>>,
    drop_share: Option<Spanned<String>>,
    access_log: Option<Spanned<String>>,
    rate_limit: Option<Spanned<String>>,
    rate_limit_search: Option<Spanned<String>>,
    rate_limit_process: Option<Spanned<String>>,
    default_registry: Option<Spanned<String>>,
    webhook_secret_env: Option<Spanned<String>>,
    webhook_secret_file: Option<Spanned<String>>,
    #[cfg(feature = "github")]
    github: Option<Spanned<github::FileGithub>>,
    fetch_limit: Option<Spanned<String>>,
    fetch_time: Option<Spanned<String>>,
    deployment_lifetime: Option<Spanned<String>>,
    deployments: Option<Spanned<u32>>,
    deployment_size: Option<Spanned<String>>,
    ca_file: Option<Spanned<String>>,
    ssh_key: Option<Spanned<String>>,
    known_hosts: Option<Spanned<String>>,
    allow_private_addresses: Option<Spanned<bool>>,
    allow_url: Option<Spanned<String>>,
    registries: BTreeMap<Spanned<String>, FileRegistry>,
}

/// Where values are looked for, in order.
pub(crate) struct Lookup<'a> {
    environment: &'a dyn Fn(&str) -> Option<String>,
    path: PathBuf,
    text: String,
}

impl Lookup<'_> {
    /// A variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name)
    }

    pub(crate) fn in_file(&self, offset: usize) -> Origin {
        let before = &self.text[..offset.min(self.text.len())];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Origin::File {
            path: self.path.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// The first of flag, environment and file that has the value.
    fn text(
        &self,
        flag: Option<String>,
        flag_name: &'static str,
        file: Option<&Spanned<String>>,
    ) -> Option<Setting<String>> {
        let variable =
            format!("FORMWORK_{}", flag_name.trim_start_matches('-').replace('-', "_").to_uppercase());
        flag.map(|value| Setting { value, origin: Origin::Flag(flag_name) })
            .or_else(|| {
                let value = (self.environment)(&variable).filter(|value| !value.is_empty())?;
                Some(Setting { value, origin: Origin::Environment(variable) })
            })
            .or_else(|| {
                file.map(|value| Setting {
                    value: value.get_ref().clone(),
                    origin: self.in_file(value.span().start),
                })
            })
    }
}

/// Reads a text setting into its type, or says what is wrong with it and where it was given.
fn typed<T>(
    key: &str,
    text: Option<Setting<String>>,
    default: impl FnOnce() -> T,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Setting<T>, SettingError> {
    match text {
        None => Ok(Setting { value: default(), origin: Origin::Default }),
        Some(Setting { value, origin }) => match read(&value) {
            Ok(value) => Ok(Setting { value, origin }),
            Err(message) => Err(SettingError { key: key.to_owned(), message, origin }),
        },
    }
}

/// Prefixes of URLs, joined by commas.
pub(crate) fn allowed_urls(text: &str) -> Result<AllowedUrls, String> {
    let prefixes = text.split(',').map(|prefix| prefix.trim().parse::<UrlPrefix>());
    let prefixes = prefixes.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    Ok(AllowedUrls::new(prefixes))
}

fn shown_urls(urls: &AllowedUrls) -> String {
    urls.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl Settings {
    /// Reads the settings of a command line, with the process's environment and files.
    pub(crate) fn read(arguments: &ServeArguments) -> anyhow::Result<Settings> {
        let environment = |name: &str| std::env::var(name).ok();
        let named = arguments.config.clone().or_else(|| environment("FORMWORK_CONFIG").map(PathBuf::from));
        let path = named.clone().unwrap_or_else(|| DEFAULT_FILE.into());
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && named.is_none() => String::new(),
            Err(error) => anyhow::bail!("config: {} cannot be read: {error}", path.display()),
        };
        Ok(Settings::combine(arguments, &environment, path, text)?)
    }

    fn combine(
        arguments: &ServeArguments,
        environment: &dyn Fn(&str) -> Option<String>,
        path: PathBuf,
        text: String,
    ) -> Result<Settings, SettingError> {
        let lookup = Lookup { environment, path, text };
        let file = toml::from_str::<File>(&lookup.text).map_err(|error| file_error(&lookup, &error))?;
        let base = lookup
            .path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
            .to_owned();
        let path_text = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let optional_path = |text: &str| Ok(Some(PathBuf::from(text)));

        // Made absolute: the processes that read them run elsewhere.
        let there = |text: &str| match std::fs::metadata(text).and_then(|_| std::path::absolute(text)) {
            Ok(path) => Ok(Some(path)),
            Err(error) => Err(format!("{text}: {error}")),
        };
        let ca_file = typed(
            "ca-file",
            lookup.text(path_text(&arguments.ca_file), "--ca-file", file.ca_file.as_ref()),
            || None,
            there,
        )?;
        let ssh_key = typed(
            "ssh-key",
            lookup.text(path_text(&arguments.ssh_key), "--ssh-key", file.ssh_key.as_ref()),
            || None,
            there,
        )?;
        let known_hosts = typed(
            "known-hosts",
            lookup.text(path_text(&arguments.known_hosts), "--known-hosts", file.known_hosts.as_ref()),
            || {
                // What the user has accepted by hand before.
                let own = PathBuf::from(environment("HOME")?).join(".ssh/known_hosts");
                own.is_file().then_some(own)
            },
            there,
        )?;
        let allow_in_file = file.allow_private_addresses.as_ref().map(|allow| Setting {
            value: allow.get_ref().to_string(),
            origin: lookup.in_file(allow.span().start),
        });
        let allow_private_addresses = typed(
            "allow-private-addresses",
            lookup
                .text(
                    arguments.allow_private_addresses.then(|| "true".to_owned()),
                    "--allow-private-addresses",
                    None,
                )
                .or(allow_in_file),
            || false,
            |text| text.parse().map_err(|_| format!("`{text}` is neither true nor false")),
        )?;
        let urls = (!arguments.allow_url.is_empty()).then(|| arguments.allow_url.join(","));
        let allow_url = typed(
            "allow-url",
            lookup.text(urls, "--allow-url", file.allow_url.as_ref()),
            AllowedUrls::default,
            allowed_urls,
        )?;
        let defaults = Connection {
            credentials: None,
            ca_file: ca_file.value.clone(),
            ssh: SshOptions {
                key: ssh_key.value.clone(),
                known_hosts: known_hosts.value.clone(),
                agent: false,
            },
            addresses: Addresses::Public,
        };
        let registries = registries(arguments, &lookup, &file.registries, &base, &defaults)?;
        let home = typed(
            "default-registry",
            lookup.text(
                arguments.default_registry.clone(),
                "--default-registry",
                file.default_registry.as_ref(),
            ),
            || registries.first().map(|first| Home { registry: first.value.name.clone(), collection: None }),
            |text| home(text, &registries).map(Some),
        )?;
        let workers_in_file = file.workers.as_ref().map(|workers| Setting {
            value: workers.get_ref().to_string(),
            origin: lookup.in_file(workers.span().start),
        });
        let remove_unlisted_in_file = file.remove_unlisted.as_ref().map(|remove| Setting {
            value: remove.get_ref().to_string(),
            origin: lookup.in_file(remove.span().start),
        });
        let webhook_secret = SecretSource::of(
            "webhook-secret",
            lookup.text(
                arguments.webhook_secret_env.clone(),
                "--webhook-secret-env",
                file.webhook_secret_env.as_ref(),
            ),
            lookup.text(
                path_text(&arguments.webhook_secret_file),
                "--webhook-secret-file",
                file.webhook_secret_file.as_ref(),
            ),
            &base,
        )?;
        let webhooks = webhooks(&webhook_secret, &lookup, &file, &base)?;
        let settings = Settings {
            webhook_secret,
            webhooks,
            #[cfg(feature = "github")]
            discovery: file
                .github
                .as_ref()
                .map(|table| Discovery::read(table, &lookup, &base))
                .transpose()?,
            listen: typed(
                "listen",
                lookup.text(arguments.listen.clone(), "--listen", file.listen.as_ref()),
                || ([127, 0, 0, 1], 8080).into(),
                arguments::address,
            )?,
            data: typed(
                "data",
                lookup.text(path_text(&arguments.data), "--data", file.data.as_ref()),
                || default_data(environment),
                |text| Ok(PathBuf::from(text)),
            )?,
            python_cache: typed(
                "python-cache",
                lookup.text(path_text(&arguments.python_cache), "--python-cache", file.python_cache.as_ref()),
                || None,
                |text| Ok(Some(PathBuf::from(text))),
            )?,
            public_url: typed(
                "public-url",
                lookup.text(arguments.public_url.clone(), "--public-url", file.public_url.as_ref()),
                || None,
                |text| public_url(text).map(Some),
            )?,
            tls_cert: typed(
                "tls-cert",
                lookup.text(path_text(&arguments.tls_cert), "--tls-cert", file.tls_cert.as_ref()),
                || None,
                optional_path,
            )?,
            tls_key: typed(
                "tls-key",
                lookup.text(path_text(&arguments.tls_key), "--tls-key", file.tls_key.as_ref()),
                || None,
                optional_path,
            )?,
            workers: typed(
                "workers",
                lookup.text(arguments.workers.clone(), "--workers", None).or(workers_in_file),
                || std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2)),
                |text| match text.parse() {
                    Ok(workers @ 1..=256) => Ok(workers),
                    _ => Err(format!("`{text}` is not a number from 1 to 256")),
                },
            )?,
            settle: typed(
                "settle",
                lookup.text(arguments.settle.clone(), "--settle", file.settle.as_ref()),
                || Duration::from_secs(3_600),
                settle,
            )?,
            drop_share: typed(
                "drop-share",
                lookup.text(arguments.drop_share.clone(), "--drop-share", file.drop_share.as_ref()),
                || catalog::Policy::default().drop_share,
                percent,
            )?,
            poll: typed(
                "poll",
                lookup.text(arguments.poll.clone(), "--poll", file.poll.as_ref()),
                || Duration::from_secs(300),
                duration,
            )?,
            remove_unlisted: typed(
                "remove-unlisted",
                lookup
                    .text(arguments.remove_unlisted.then(|| "true".to_owned()), "--remove-unlisted", None)
                    .or(remove_unlisted_in_file),
                || false,
                |text| text.parse().map_err(|_| format!("`{text}` is neither true nor false")),
            )?,
            rate_limit: typed(
                "rate-limit",
                lookup.text(arguments.rate_limit.clone(), "--rate-limit", file.rate_limit.as_ref()),
                || RateLimits::default().requests,
                rate,
            )?,
            rate_limit_search: typed(
                "rate-limit-search",
                lookup.text(
                    arguments.rate_limit_search.clone(),
                    "--rate-limit-search",
                    file.rate_limit_search.as_ref(),
                ),
                || RateLimits::default().search,
                rate,
            )?,
            rate_limit_process: typed(
                "rate-limit-process",
                lookup.text(
                    arguments.rate_limit_process.clone(),
                    "--rate-limit-process",
                    file.rate_limit_process.as_ref(),
                ),
                || RateLimits::default().process,
                rate,
            )?,
            access_log: typed(
                "access-log",
                lookup.text(path_text(&arguments.access_log), "--access-log", file.access_log.as_ref()),
                || None,
                optional_path,
            )?,
            deployments: Deployments::read(arguments, &lookup, &file)?,
            fetch_limit: typed(
                "fetch-limit",
                lookup.text(arguments.fetch_limit.clone(), "--fetch-limit", file.fetch_limit.as_ref()),
                || 2 << 30,
                size,
            )?,
            fetch_time: typed(
                "fetch-time",
                lookup.text(arguments.fetch_time.clone(), "--fetch-time", file.fetch_time.as_ref()),
                || Duration::from_secs(15 * 60),
                duration,
            )?,
            ca_file,
            ssh_key,
            known_hosts,
            allow_private_addresses,
            allow_url,
            home,
            registries,
        };
        let alone = |key: &str, other: &str, origin: &Origin| SettingError {
            key: key.to_owned(),
            message: format!("needs {other} beside it"),
            origin: origin.clone(),
        };
        match (&settings.tls_cert, &settings.tls_key) {
            (Setting { value: Some(_), origin }, Setting { value: None, .. }) => {
                Err(alone("tls-cert", "tls-key", origin))
            }
            (Setting { value: None, .. }, Setting { value: Some(_), origin }) => {
                Err(alone("tls-key", "tls-cert", origin))
            }
            _ => Ok(settings),
        }
    }

    /// How registries are reached that somebody adds over the API.
    pub(crate) fn admitted(&self) -> Connection {
        Connection {
            credentials: None,
            ca_file: self.ca_file.value.clone(),
            ssh: SshOptions {
                key: self.ssh_key.value.clone(),
                known_hosts: self.known_hosts.value.clone(),
                agent: false,
            },
            addresses: self.addresses(),
        }
    }

    /// Which addresses may be connected to for what others than the operator name.
    pub(crate) fn addresses(&self) -> Addresses {
        if self.allow_private_addresses.value { Addresses::Any } else { Addresses::Public }
    }

    /// Key, value and origin of every setting, for people and tools.
    pub(crate) fn rows(&self) -> Vec<(String, String, Origin)> {
        let path = |path: &Option<PathBuf>| {
            path.as_ref().map_or_else(String::new, |path| path.display().to_string())
        };
        let home = self.home.value.as_ref().map(|home| match &home.collection {
            Some(collection) => format!("{}/{collection}", home.registry),
            None => home.registry.to_string(),
        });
        let mut rows = vec![
            ("listen".to_owned(), self.listen.value.to_string(), self.listen.origin.clone()),
            ("data".to_owned(), self.data.value.display().to_string(), self.data.origin.clone()),
            ("python-cache".to_owned(), path(&self.python_cache.value), self.python_cache.origin.clone()),
            (
                "public-url".to_owned(),
                self.public_url.value.clone().unwrap_or_default(),
                self.public_url.origin.clone(),
            ),
            ("tls-cert".to_owned(), path(&self.tls_cert.value), self.tls_cert.origin.clone()),
            ("tls-key".to_owned(), path(&self.tls_key.value), self.tls_key.origin.clone()),
            ("workers".to_owned(), self.workers.value.to_string(), self.workers.origin.clone()),
            ("poll".to_owned(), format!("{}s", self.poll.value.as_secs()), self.poll.origin.clone()),
            (
                "remove-unlisted".to_owned(),
                self.remove_unlisted.value.to_string(),
                self.remove_unlisted.origin.clone(),
            ),
            ("settle".to_owned(), format!("{}s", self.settle.value.as_secs()), self.settle.origin.clone()),
            ("drop-share".to_owned(), format!("{}%", self.drop_share.value), self.drop_share.origin.clone()),
            ("access-log".to_owned(), path(&self.access_log.value), self.access_log.origin.clone()),
            ("rate-limit".to_owned(), said_rate(&self.rate_limit), self.rate_limit.origin.clone()),
            (
                "rate-limit-search".to_owned(),
                said_rate(&self.rate_limit_search),
                self.rate_limit_search.origin.clone(),
            ),
            (
                "rate-limit-process".to_owned(),
                said_rate(&self.rate_limit_process),
                self.rate_limit_process.origin.clone(),
            ),
            (
                "fetch-limit".to_owned(),
                format!("{}MiB", self.fetch_limit.value >> 20),
                self.fetch_limit.origin.clone(),
            ),
            (
                "fetch-time".to_owned(),
                format!("{}s", self.fetch_time.value.as_secs()),
                self.fetch_time.origin.clone(),
            ),
        ];
        rows.extend(self.deployments.rows());
        rows.extend([
            ("ca-file".to_owned(), path(&self.ca_file.value), self.ca_file.origin.clone()),
            ("ssh-key".to_owned(), path(&self.ssh_key.value), self.ssh_key.origin.clone()),
            ("known-hosts".to_owned(), path(&self.known_hosts.value), self.known_hosts.origin.clone()),
            (
                "allow-private-addresses".to_owned(),
                self.allow_private_addresses.value.to_string(),
                self.allow_private_addresses.origin.clone(),
            ),
            ("allow-url".to_owned(), shown_urls(&self.allow_url.value), self.allow_url.origin.clone()),
            ("default-registry".to_owned(), home.unwrap_or_default(), self.home.origin.clone()),
            (
                "webhook-secret".to_owned(),
                self.webhook_secret.value.as_ref().map(ToString::to_string).unwrap_or_default(),
                self.webhook_secret.origin.clone(),
            ),
        ]);
        #[cfg(feature = "github")]
        rows.extend(
            self.discovery.iter().map(|one| ("github".to_owned(), one.value.shown(), one.origin.clone())),
        );
        rows.extend(self.registries.iter().map(|registry| {
            let RegistryConfig { name, source, revision, connection, visibility } = &registry.value;
            let mut notes = Vec::new();
            notes.extend(revision.name().map(|_| revision.to_string()));
            notes.extend(connection.credentials.as_ref().map(|_| "with a password".to_owned()));
            notes.extend(visibility.map(|visibility| visibility.to_string()));
            let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
            (format!("registries.{name}"), format!("{source}{notes}"), registry.origin.clone())
        }));
        rows
    }
}

/// What the file's own reader found wrong, with the key on that line.
fn file_error(lookup: &Lookup<'_>, error: &toml::de::Error) -> SettingError {
    let offset = error.span().map_or(0, |span| span.start);
    let line = lookup.text[..offset.min(lookup.text.len())].rfind('\n').map_or(0, |at| at + 1);
    let key = lookup.text[line..]
        .lines()
        .next()
        .and_then(|line| line.split_once('='))
        .map_or("config", |(key, _)| key.trim());
    let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    SettingError { key: key.to_owned(), message, origin: lookup.in_file(offset) }
}

/// The secrets of webhooks, read from where they are kept.
fn webhooks(
    shared: &Setting<Option<SecretSource>>,
    lookup: &Lookup<'_>,
    file: &File,
    base: &Path,
) -> Result<Webhooks, SettingError> {
    let read = |key: String, source: &Setting<Option<SecretSource>>| {
        let Some(from) = &source.value else { return Ok(None) };
        let text = from.read(lookup.environment);
        let secret =
            text.and_then(|text| WebhookSecret::new(&text).map_err(|error| format!("{from}: {error}")));
        secret.map(Some).map_err(|message| SettingError { key, message, origin: source.origin.clone() })
    };
    let mut webhooks = Webhooks { shared: read("webhook-secret".to_owned(), shared)?, ..Webhooks::default() };
    for (name, entry) in &file.registries {
        let FileRegistry::Table(table) = entry else { continue };
        let key = format!("registries.{}.webhook-secret", name.get_ref());
        let origin = lookup.in_file(name.span().start);
        let given =
            |text: &Option<String>| text.clone().map(|value| Setting { value, origin: origin.clone() });
        let source = SecretSource::of(
            &key,
            given(&table.webhook_secret_env),
            given(&table.webhook_secret_file),
            base,
        )?;
        // A name that is none was refused when the registries were read.
        if let (Some(secret), Ok(name)) = (read(key, &source)?, name.get_ref().parse::<RegistryName>()) {
            webhooks.registries.insert(name, secret);
        }
    }
    Ok(webhooks)
}

fn home(text: &str, registries: &[Setting<RegistryConfig>]) -> Result<Home, String> {
    let names = || registries.iter().map(|registry| &registry.value.name);
    let find = |text: &str| {
        text.parse::<RegistryName>().ok().and_then(|name| names().find(|other| **other == name).cloned())
    };
    if let Some(registry) = find(text) {
        return Ok(Home { registry, collection: None });
    }
    if let Some((registry, collection)) = text.rsplit_once('/')
        && let (Some(registry), Ok(collection)) = (find(registry), collection.parse::<CollectionName>())
    {
        return Ok(Home { registry, collection: Some(collection) });
    }
    let known = names().map(RegistryName::to_string).collect::<Vec<_>>().join(", ");
    Err(format!("`{text}` is none of the registries given ({known})"))
}

fn public_url(text: &str) -> Result<String, String> {
    match text.split_once("://") {
        Some(("http" | "https", rest)) if !rest.is_empty() && !rest.contains(['?', '#', ' ']) => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err(format!("`{text}` is not an http or https URL")),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let factor = match &text[split..] {
        "s" | "" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => 0,
    };
    match text[..split].parse::<u64>().ok().and_then(|number| number.checked_mul(factor)) {
        Some(seconds @ 1..=86_400) => Ok(Duration::from_secs(seconds)),
        _ => Err(format!("`{text}` is not a time from 1s to 24h, like 30s, 5m or 1h")),
    }
}

/// Like a duration, but it may be nothing at all, and long.
fn settle(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let factor = match &text[split..] {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => 0,
    };
    let seconds = text[..split].parse::<u64>().ok().filter(|_| factor > 0);
    match seconds.and_then(|number| number.checked_mul(factor)) {
        Some(seconds @ 0..=31_536_000) => Ok(Duration::from_secs(seconds)),
        _ => Err(format!("`{text}` is not a time from 0s to 365d, like 0s, 30m, 1h or 2d")),
    }
}

/// A rate, or none at all.
fn rate(text: &str) -> Result<Option<Rate>, String> {
    match text {
        "off" => Ok(None),
        text => text.parse().map(Some).map_err(|error: RateError| format!("{error}; or off")),
    }
}

fn said_rate(rate: &Setting<Option<Rate>>) -> String {
    rate.value.map_or("off".to_owned(), |rate| rate.to_string())
}

fn percent(text: &str) -> Result<u8, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<u8>().ok();
    number.filter(|number| *number <= 100).ok_or_else(|| format!("`{text}` is not a share from 0% to 100%"))
}

fn size(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let shift = match &text[split..] {
        "MiB" | "M" => Some(20),
        "GiB" | "G" => Some(30),
        _ => None,
    };
    let bytes = text[..split].parse::<u64>().ok().zip(shift).filter(|(number, _)| *number <= 1 << 20);
    match bytes.map(|(number, shift)| number << shift) {
        Some(bytes @ 1..=0x100_0000_0000) => Ok(bytes),
        _ => Err(format!("`{text}` is not a size from 1MiB to 1024GiB, like 512MiB or 2GiB")),
    }
}

fn default_data(environment: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    let absolute = |name| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    match absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share"))) {
        Some(base) => base.join("formwork"),
        None => PathBuf::from("formwork-data"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use clap::Parser;

    pub(crate) fn read(
        flags: &[&str],
        environment: &[(&str, &str)],
        file: &str,
    ) -> Result<Settings, SettingError> {
        let line = ["formwork", "serve"].iter().chain(flags);
        let arguments::Command::Serve(arguments) = arguments::Arguments::parse_from(line).command else {
            unreachable!("the command is serve")
        };
        let environment = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        Settings::combine(&arguments, &environment, "/etc/formwork.toml".into(), file.to_owned())
    }

    #[test]
    fn flag_then_environment_then_file_then_default() {
        let file = "listen = '127.0.0.1:3'\n";
        let environment = [("FORMWORK_LISTEN", "127.0.0.1:2")];
        let port = |settings: Settings| (settings.listen.value.port(), settings.listen.origin.to_string());
        let flags = ["--listen", "127.0.0.1:1"];
        assert_eq!(port(read(&flags, &environment, file).unwrap()), (1, "--listen".to_owned()));
        assert_eq!(port(read(&[], &environment, file).unwrap()), (2, "FORMWORK_LISTEN".to_owned()));
        assert_eq!(port(read(&[], &[], file).unwrap()), (3, "/etc/formwork.toml:1:10".to_owned()));
        assert_eq!(port(read(&[], &[], "").unwrap()), (8080, "default".to_owned()));
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line_with_key_and_place() {
        for (file, said) in [
            (
                "\nlisten = 'x'\n",
                "listen: `x` is not an address and port, like 127.0.0.1:8080 (from /etc/formwork.toml:2:10)",
            ),
            (
                "listen = 1\n",
                "listen: invalid type: integer `1`, expected a string (from /etc/formwork.toml:1:10)",
            ),
            (
                "poll = '5 years'\n",
                "poll: `5 years` is not a time from 1s to 24h, like 30s, 5m or 1h (from /etc/formwork.toml:1:8)",
            ),
            ("tls-cert = 'a'\n", "tls-cert: needs tls-key beside it (from /etc/formwork.toml:1:12)"),
            (
                "[registries]\n'github.com/a' = 'https://x/y'\n",
                "registries.github.com/a: `github.com/a` is not a registry name: write a host and at least two segments, like `github.com/acme/templates` (from /etc/formwork.toml:2:1)",
            ),
        ] {
            assert_eq!(read(&[], &[], file).unwrap_err().to_string(), said);
        }
        let unknown = read(&[], &[], "\n\nlisten-on = 'x'\n").unwrap_err().to_string();
        assert!(
            unknown.starts_with("listen-on: unknown field `listen-on`")
                && unknown.ends_with("(from /etc/formwork.toml:3:1)"),
            "{unknown}"
        );
    }
}
