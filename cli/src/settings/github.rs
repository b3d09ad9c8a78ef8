//! `[github]` in the settings file: where registries are looked for, and with which credentials.

use std::path::Path;
use std::time::Duration;

use github::{Api, App, Config, Credentials, Find, PrivateKey, TOPIC, Token};
use serde::Deserialize;
use toml::Spanned;

use super::{Lookup, Setting, SettingError, duration};
use crate::secret::SecretSource;

/// The table, as typed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FileGithub {
    organisation: Spanned<String>,
    topic: Option<Spanned<String>>,
    registry_file: Option<Spanned<bool>>,
    token_env: Option<Spanned<String>>,
    token_file: Option<Spanned<String>>,
    app_id: Option<Spanned<String>>,
    private_key_file: Option<Spanned<String>>,
    installation_id: Option<Spanned<u64>>,
    api_url: Option<Spanned<String>>,
    interval: Option<Spanned<String>>,
}

/// What to look for at GitHub, and how often.
#[derive(Debug, Clone)]
pub(crate) struct Discovery {
    pub(crate) config: Config,
    pub(crate) interval: Duration,
}

impl Discovery {
    /// Reads the table and what it names.
    pub(super) fn read(
        table: &Spanned<FileGithub>,
        lookup: &Lookup<'_>,
        base: &Path,
    ) -> Result<Setting<Discovery>, SettingError> {
        let origin = lookup.in_file(table.span().start);
        let table = table.get_ref();
        let error = |key: &str, at: usize, message: String| SettingError {
            key: format!("github.{key}"),
            message,
            origin: lookup.in_file(at),
        };
        let owner = table.organisation.get_ref().clone();
        if owner.is_empty()
            || !owner.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        {
            let message = format!("`{owner}` is no name of an organisation or a user at GitHub");
            return Err(error("organisation", table.organisation.span().start, message));
        }
        let by_file = table.registry_file.as_ref().filter(|by_file| *by_file.get_ref());
        let find = match (&table.topic, by_file) {
            (Some(topic), Some(_)) => {
                let message = "registry-file is true too; give one of them".to_owned();
                return Err(error("topic", topic.span().start, message));
            }
            (None, Some(_)) => Find::RegistryFile,
            (topic, None) => Find::Topic(topic.as_ref().map_or(TOPIC, |topic| topic.get_ref()).to_owned()),
        };
        let api = match &table.api_url {
            None => Api::parse("https://api.github.com").expect("it is one"),
            Some(url) => {
                let parsed = Api::parse(url.get_ref());
                parsed.map_err(|wrong| error("api-url", url.span().start, wrong.to_string()))?
            }
        };
        let interval = match &table.interval {
            None => Duration::from_secs(15 * 60),
            Some(text) => {
                duration(text.get_ref()).map_err(|message| error("interval", text.span().start, message))?
            }
        };
        let credentials = credentials(table, lookup, base)?;
        let config = Config { api, owner, find, credentials };
        Ok(Setting { value: Discovery { config, interval }, origin })
    }

    /// What is shown of it: never a credential.
    pub(super) fn shown(&self) -> String {
        let Config { api, owner, find, credentials } = &self.config;
        let find = match find {
            Find::Topic(topic) => format!("topic {topic}"),
            Find::RegistryFile => "a registry.yaml".to_owned(),
        };
        let by = match credentials {
            Credentials::None => "anybody".to_owned(),
            Credentials::Token(_) => "a token".to_owned(),
            Credentials::App(app) => format!("app {} (installation {})", app.id, app.installation),
        };
        format!("{owner} at {}, by {find}, as {by}, every {}s", api.host(), self.interval.as_secs())
    }
}

fn credentials(table: &FileGithub, lookup: &Lookup<'_>, base: &Path) -> Result<Credentials, SettingError> {
    let given = |value: &Option<Spanned<String>>| {
        value.as_ref().map(|value| Setting {
            value: value.get_ref().clone(),
            origin: lookup.in_file(value.span().start),
        })
    };
    let token = SecretSource::of("github.token", given(&table.token_env), given(&table.token_file), base)?;
    let key = SecretSource::of("github.private-key", None, given(&table.private_key_file), base)?;
    let read = |key: &str, setting: &Setting<Option<SecretSource>>| {
        let text = setting.value.as_ref().map(|source| source.read(lookup.environment)).transpose();
        let wrong = |message| SettingError { key: key.to_owned(), message, origin: setting.origin.clone() };
        match text.map_err(wrong)? {
            Some(text) if text.trim().is_empty() => Err(wrong("it is empty".to_owned())),
            text => Ok(text),
        }
    };
    let partly = |origin| SettingError {
        key: "github.app-id".to_owned(),
        message: "an app needs app-id, private-key-file and installation-id".to_owned(),
        origin,
    };
    match (&table.app_id, read("github.private-key-file", &key)?, &table.installation_id) {
        (None, None, None) => {
            let token = read("github.token", &token)?;
            Ok(token.map_or(Credentials::None, |token| Credentials::Token(Token::new(token.trim()))))
        }
        (Some(id), Some(pem), Some(installation)) => {
            if token.value.is_some() {
                let message = "an app is given too; give one of them".to_owned();
                return Err(SettingError { key: "github.token".to_owned(), message, origin: token.origin });
            }
            let wrong = |message| SettingError {
                key: "github.private-key-file".to_owned(),
                message,
                origin: key.origin.clone(),
            };
            let key = PrivateKey::from_pem(&pem).map_err(|error| wrong(error.to_string()))?;
            Ok(Credentials::App(App { id: id.get_ref().clone(), key, installation: *installation.get_ref() }))
        }
        (Some(id), ..) => Err(partly(lookup.in_file(id.span().start))),
        (None, _, Some(installation)) => Err(partly(lookup.in_file(installation.span().start))),
        (None, Some(_), None) => Err(partly(key.origin.clone())),
    }
}
