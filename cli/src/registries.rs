//! The registries of `serve`: from flags, the environment and the file, each with its source and how to reach it.
//!
//! What may be said of a registry is one table, [`RegistryOptions`], whether it is written in `formwork.toml` or given
//! as `--option NAME:KEY=VALUE`. Passwords are read from the environment or named as files; they are never settings
//! themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use catalog::Visibility;
use indexer::{
    Connection, CredentialSource, Credentials, RegistryConfig, Revision, Scheme, Secret, Source, SshOptions,
};
use schema::RegistryName;
use serde::Deserialize;
use toml::Spanned;

use crate::arguments::ServeArguments;
use crate::settings::{Lookup, Origin, Setting, SettingError};

/// A registry in the file: a source, or a table.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a registry is a source, or a table with `source` and what else is known of it"
)]
pub(crate) enum FileRegistry {
    Source(String),
    Table(Box<RegistryOptions>),
}

/// What may be said of a registry beside its name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RegistryOptions {
    source: Option<String>,
    branch: Option<String>,
    tag: Option<String>,
    username: Option<String>,
    password_env: Option<String>,
    password_file: Option<String>,
    ca_file: Option<String>,
    ssh_key: Option<String>,
    ssh_agent: Option<bool>,
    known_hosts: Option<String>,
    visibility: Option<Visibility>,
    pub(crate) webhook_secret_env: Option<String>,
    pub(crate) webhook_secret_file: Option<String>,
}

impl RegistryOptions {
    /// Sets one by its name in the file.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let slot = match key {
            "branch" => &mut self.branch,
            "tag" => &mut self.tag,
            "username" => &mut self.username,
            "password-env" => &mut self.password_env,
            "password-file" => &mut self.password_file,
            "ca-file" => &mut self.ca_file,
            "ssh-key" => &mut self.ssh_key,
            "known-hosts" => &mut self.known_hosts,
            "ssh-agent" => {
                let value = value.parse().map_err(|_| format!("`{value}` is neither true nor false"))?;
                self.ssh_agent = Some(value);
                return Ok(());
            }
            _ => {
                return Err(format!(
                    "`{key}` is no option of a registry; there are branch, tag, username, password-env, password-file, ca-file, ssh-key, ssh-agent and known-hosts"
                ));
            }
        };
        match slot.replace(value.to_owned()) {
            None => Ok(()),
            Some(_) => Err(format!("`{key}` is given twice")),
        }
    }
}

/// Options of registries given by flags, by the registry's name.
type Options = BTreeMap<RegistryName, RegistryOptions>;

/// Every registry there is to serve. `defaults` is how servers are reached of which nothing is said.
pub(crate) fn registries(
    arguments: &ServeArguments,
    lookup: &Lookup<'_>,
    file: &BTreeMap<Spanned<String>, FileRegistry>,
    base: &Path,
    defaults: &Connection,
) -> Result<Vec<Setting<RegistryConfig>>, SettingError> {
    let here = Path::new(".");
    let mut options = options(arguments)?;
    let mut found = Vec::<Setting<RegistryConfig>>::new();
    let mut add = |key: String, read: Result<RegistryConfig, String>, origin: Origin| {
        let error = |message| SettingError { key: key.clone(), message, origin: origin.clone() };
        let value = read.map_err(&error);
        let value = match value {
            Ok(value) if found.iter().any(|other| other.value.name == value.name) => {
                return match &origin {
                    // Flags and the environment go before the file, as for every other setting.
                    Origin::File { .. } => Ok(()),
                    _ => Err(SettingError {
                        key: "registry".to_owned(),
                        message: format!("{} is given twice", value.name),
                        origin: origin.clone(),
                    }),
                };
            }
            other => other?,
        };
        found.push(Setting { value, origin });
        Ok(())
    };
    let mut given = |text: &str| {
        let (name, source, credentials) = named(text, here)?;
        let options = options.remove(&name).unwrap_or_default();
        Reading { base: here, defaults, lookup }.registry(name, source, credentials, &options)
    };
    for text in &arguments.registries {
        add("registry".to_owned(), given(text), Origin::Flag("REGISTRY"))?;
    }
    for text in &arguments.registry {
        add("registry".to_owned(), given(text), Origin::Flag("--registry"))?;
    }
    if let Some(list) = lookup.variable("FORMWORK_REGISTRY") {
        for text in list.split_whitespace() {
            let origin = Origin::Environment("FORMWORK_REGISTRY".to_owned());
            add("registry".to_owned(), given(text), origin)?;
        }
    }
    if let Some((name, _)) = options.first_key_value() {
        return Err(SettingError {
            key: "option".to_owned(),
            message: format!("{name} is not among the registries given as arguments"),
            origin: Origin::Flag("--option"),
        });
    }
    for (name, entry) in file {
        let read = || {
            let only_source;
            let options = match entry {
                FileRegistry::Table(table) => table,
                FileRegistry::Source(source) => {
                    only_source =
                        RegistryOptions { source: Some(source.clone()), ..RegistryOptions::default() };
                    &only_source
                }
            };
            let name = name.get_ref().parse::<RegistryName>().map_err(|error| error.to_string())?;
            let source = options.source.as_deref().ok_or("`source` is missing")?;
            let (source, credentials) =
                Source::parse_with_credentials(source, base).map_err(|error| error.to_string())?;
            Reading { base, defaults, lookup }.registry(name, source, credentials, options)
        };
        add(format!("registries.{}", name.get_ref()), read(), lookup.in_file(name.span().start))?;
    }
    Ok(found)
}

/// `--option NAME:KEY=VALUE`, `--branch NAME=BRANCH` and `--tag NAME=TAG`.
fn options(arguments: &ServeArguments) -> Result<Options, SettingError> {
    let mut options = Options::new();
    let mut set = |flag: &'static str, name: &str, key: &str, value: &str| {
        let name = name.parse::<RegistryName>().map_err(|error| error.to_string());
        let done = name.and_then(|name| options.entry(name).or_default().set(key, value));
        let error = |message| SettingError { key: key.to_owned(), message, origin: Origin::Flag(flag) };
        done.map_err(error)
    };
    for (flag, key, texts) in [("--branch", "branch", &arguments.branch), ("--tag", "tag", &arguments.tag)] {
        for text in texts {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            set(flag, name, key, value)?;
        }
    }
    for text in &arguments.option {
        let split = text.split_once(':').and_then(|(name, rest)| Some((name, rest.split_once('=')?)));
        let Some((name, (key, value))) = split else {
            let message = format!("`{text}` is not NAME:KEY=VALUE");
            return Err(SettingError { key: "option".to_owned(), message, origin: Origin::Flag("--option") });
        };
        set("--option", name, key, value)?;
    }
    Ok(options)
}

/// Where paths and variables of a registry's options are looked up.
struct Reading<'a> {
    base: &'a Path,
    defaults: &'a Connection,
    lookup: &'a Lookup<'a>,
}

impl Reading<'_> {
    fn registry(
        &self,
        name: RegistryName,
        source: Source,
        from_url: Option<Credentials>,
        options: &RegistryOptions,
    ) -> Result<RegistryConfig, String> {
        let mut config = RegistryConfig::new(name, source);
        config.visibility = options.visibility;
        let Source::Git(url) = &config.source else {
            let RegistryOptions {
                source: _,
                branch: None,
                tag: None,
                username: None,
                password_env: None,
                password_file: None,
                ca_file: None,
                ssh_key: None,
                ssh_agent: None,
                known_hosts: None,
                ..
            } = options
            else {
                return Err(
                    "a directory is read as it is: it has no branch, tag, credentials or server".to_owned()
                );
            };
            return Ok(config);
        };
        let http = matches!(url.scheme(), Scheme::Http | Scheme::Https);
        let (https, ssh) = (url.scheme() == Scheme::Https, url.scheme() == Scheme::Ssh);
        config.revision = match (&options.branch, &options.tag) {
            (None, None) => Revision::Default,
            (Some(branch), None) => Revision::branch(branch).map_err(|error| error.to_string())?,
            (None, Some(tag)) => Revision::tag(tag).map_err(|error| error.to_string())?,
            (Some(_), Some(_)) => return Err("give a branch or a tag, not both".to_owned()),
        };
        let only = |key: &str, given: bool, fits: bool, schemes: &str| {
            if given && !fits { Err(format!("`{key}` is for {schemes} sources")) } else { Ok(()) }
        };
        let credentials = self.credentials(from_url, options)?;
        only("username and password", credentials.is_some(), http, "http and https")?;
        only("ca-file", options.ca_file.is_some(), https, "https")?;
        only("ssh-key", options.ssh_key.is_some(), ssh, "ssh")?;
        only("ssh-agent", options.ssh_agent.is_some(), ssh, "ssh")?;
        only("known-hosts", options.known_hosts.is_some(), ssh, "ssh")?;
        let file = |path: &Option<String>, default: &Option<PathBuf>| match path {
            Some(path) => readable(&self.base.join(path)).map(Some),
            None => Ok(default.clone()),
        };
        config.connection = Connection {
            credentials,
            ca_file: file(&options.ca_file, &self.defaults.ca_file)?,
            ssh: SshOptions {
                key: file(&options.ssh_key, &self.defaults.ssh.key)?,
                known_hosts: file(&options.known_hosts, &self.defaults.ssh.known_hosts)?,
                agent: options.ssh_agent.unwrap_or(self.defaults.ssh.agent),
            },
            // Whoever starts the server may fetch from wherever the server can.
            addresses: indexer::Addresses::Any,
        };
        Ok(config)
    }

    fn credentials(
        &self,
        from_url: Option<Credentials>,
        options: &RegistryOptions,
    ) -> Result<Option<CredentialSource>, String> {
        let from_url_name = from_url.as_ref().map(|credentials| credentials.username.clone());
        // Hosts that take a token for a password do not look at the name, but want one.
        let username = options.username.clone().or(from_url_name).unwrap_or_else(|| "git".to_owned());
        match (&options.password_env, &options.password_file) {
            (Some(_), Some(_)) => Err("give password-env or password-file, not both".to_owned()),
            (Some(variable), None) => {
                let password = self
                    .lookup
                    .variable(variable)
                    .ok_or_else(|| format!("password-env: the environment has no `{variable}`"))?;
                let password = Secret::new(password);
                Ok(Some(CredentialSource::Given(Credentials { username, password })))
            }
            (None, Some(path)) => {
                let path = readable(&self.base.join(path))?;
                Ok(Some(CredentialSource::File { username, path }))
            }
            (None, None) => match (from_url, &options.username) {
                (Some(credentials), _) => Ok(Some(CredentialSource::Given(credentials))),
                (None, Some(_)) => Err("`username` needs password-env or password-file beside it".to_owned()),
                (None, None) => Ok(None),
            },
        }
    }
}

/// A path made absolute, for the process that reads it runs elsewhere; an error if nothing is there.
fn readable(path: &Path) -> Result<PathBuf, String> {
    let there = std::fs::metadata(path).and_then(|_| std::path::absolute(path));
    there.map_err(|error| format!("{}: {error}", path.display()))
}

/// `NAME=SOURCE`, or a source whose name follows from it.
fn named(text: &str, base: &Path) -> Result<(RegistryName, Source, Option<Credentials>), String> {
    let split =
        text.split_once('=').and_then(|(name, source)| Some((name.parse::<RegistryName>().ok()?, source)));
    let (name, source) = match split {
        Some((name, source)) => (Some(name), source),
        None => (None, text),
    };
    let (source, credentials) =
        Source::parse_with_credentials(source, base).map_err(|error| error.to_string())?;
    let name = match name {
        Some(name) => name,
        None => {
            name_of(&source).ok_or_else(|| format!("no name follows from `{source}`; write NAME={source}"))?
        }
    };
    Ok((name, source, credentials))
}

/// `localhost/<parent>/<directory>`, or host and path of a URL.
pub(crate) fn name_of(source: &Source) -> Option<RegistryName> {
    match source {
        Source::Directory(path) => {
            let mut names = path.iter().rev().filter_map(|name| name.to_str());
            let (directory, parent) = (names.next()?, names.next()?);
            format!("localhost/{parent}/{directory}").parse().ok()
        }
        Source::Git(url) => {
            let host = if url.host().is_empty() { "localhost" } else { url.host() };
            format!("{host}/{}", url.path().trim_matches('/').trim_end_matches(".git")).parse().ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::read;

    #[test]
    fn names_follow_from_sources() {
        let name = |text: &str| named(text, Path::new(".")).map(|(name, _, _)| name.to_string());
        assert_eq!(name("https://github.com/acme/templates.git").unwrap(), "github.com/acme/templates");
        assert_eq!(name("https://me:secret@github.com/acme/a").unwrap(), "github.com/acme/a");
        assert_eq!(name("ssh://git@host.example:2222/a/b").unwrap(), "host.example/a/b");
        assert_eq!(name("git@github.com:acme/templates.git").unwrap(), "github.com/acme/templates");
        assert_eq!(name("git.example/x/y=https://other/z=b").unwrap(), "git.example/x/y");
        assert!(name("https://host/short").unwrap_err().contains("write NAME="));
        assert!(name("/usr/bin").unwrap() == "localhost/usr/bin");
    }

    #[test]
    fn what_is_said_of_a_registry_means_the_same_in_the_file_and_in_flags() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, "x").unwrap();
            path.display().to_string()
        };
        let (key, hosts) = (path("key"), path("hosts"));
        let file = format!(
            "[registries.'git.example/a/b']\nsource = 'ssh://git@git.example/a/b'\ntag = 'v1'\nssh-key = '{key}'\nknown-hosts = '{hosts}'\nssh-agent = true\n"
        );
        let name = "git.example/a/b";
        let options = [
            format!("{name}:ssh-key={key}"),
            format!("{name}:known-hosts={hosts}"),
            format!("{name}:ssh-agent=true"),
        ];
        let source = format!("{name}=ssh://git@git.example/a/b");
        let tag = format!("{name}=v1");
        let mut flags = vec!["--registry", &source, "--tag", &tag];
        options.iter().for_each(|option| flags.extend(["--option", option]));
        let from_file = read(&[], &[], &file).unwrap().registries.remove(0).value;
        let from_flags = read(&flags, &[], "").unwrap().registries.remove(0).value;
        assert_eq!(from_file, from_flags);
        assert_eq!(from_file.revision, Revision::tag("v1").unwrap());
        assert!(from_file.connection.ssh.agent);
    }

    /// The share of attack row 31 that settings have.
    #[test]
    fn passwords_come_from_the_environment_or_a_url_and_are_never_shown() {
        let environment = [("TOKEN", "hunter2")];
        let file =
            "[registries.'git.example/a/b']\nsource = 'https://git.example/a/b'\npassword-env = 'TOKEN'\n";
        for (flags, file) in [(vec![], file), (vec!["https://git:hunter2@git.example/a/b"], "")] {
            let settings = read(&flags, &environment, file).unwrap();
            let given = Credentials { username: "git".to_owned(), password: Secret::new("hunter2") };
            let config = &settings.registries[0].value;
            assert_eq!(config.connection.credentials, Some(CredentialSource::Given(given)));
            assert!(!format!("{settings:?} {:?}", settings.rows()).contains("hunter2"));
        }
    }

    #[test]
    fn options_that_do_not_fit_are_refused_with_the_reason() {
        let table = |lines: &str| format!("[registries.'git.example/a/b']\n{lines}\n");
        for (lines, said) in [
            ("source = 'https://h/a'\nbranch = 'a'\ntag = 'b'", "give a branch or a tag, not both"),
            ("source = 'https://h/a'\nbranch = '-x'", "`-x` is not the name of a branch or tag"),
            ("source = '/usr'\nbranch = 'a'", "a directory is read as it is"),
            ("source = 'https://h/a'\npassword-env = 'NO'", "the environment has no `NO`"),
            ("source = 'https://h/a'\nusername = 'me'", "`username` needs password-env or password-file"),
            ("source = 'https://h/a'\npassword-file = '/no/such'", "/no/such: No such file"),
            ("source = 'https://h/a'\nssh-agent = true", "`ssh-agent` is for ssh sources"),
            ("source = 'http://h/a'\nca-file = '/etc/hosts'", "`ca-file` is for https sources"),
            ("source = 'ssh://git@h/a'\npassword-file = '/etc/hosts'", "is for http and https sources"),
            ("branch = 'main'", "`source` is missing"),
        ] {
            let error = read(&[], &[], &table(lines)).unwrap_err().to_string();
            assert!(error.contains(said) && error.contains("formwork.toml:1:"), "{lines}: {error}");
        }
        let source = "git.example/a/b=https://h/a";
        for (option, said) in [
            ("git.example/a/b:colour=red", "`colour` is no option of a registry"),
            ("git.example/a/c:branch=x", "git.example/a/c is not among the registries"),
            ("git.example/a/b", "is not NAME:KEY=VALUE"),
        ] {
            let error = read(&["--registry", source, "--option", option], &[], "").unwrap_err().to_string();
            assert!(error.contains(said), "{option}: {error}");
        }
    }
}
