//! `formwork token`: who may see private registries, and change things.
//!
//! Tokens are in the data directory, which one process at a time may open. So: with `--server`, that server is asked;
//! without, the directory is opened; and if a server holds it, that server is asked, by the address it is usually at.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow, bail};
use catalog::{Catalog, OpenError, TokenName};
use wire::tokens::{CreatedToken, NewToken, Token, TokenList};

use crate::arguments::{ServeArguments, TokenCommand, TokenCreateArguments, TokenPlace};
use crate::client::{Client, TOKEN};
use crate::output;
use crate::settings::Settings;

/// Where a server listens unless told otherwise.
const USUAL_SERVER: &str = "http://127.0.0.1:8080";

pub(crate) fn run(command: &TokenCommand) -> anyhow::Result<ExitCode> {
    match command {
        TokenCommand::Create(arguments) => {
            let token = asked(arguments)?;
            let made = match place(&arguments.place)? {
                Place::Directory(catalog) => catalog.create(&token)?,
                Place::Server(client) => client.create_token(&token)?,
            };
            output::note(said(&made.token));
            output::note("This is the only time its secret is shown:");
            output::line(&made.secret);
        }
        TokenCommand::List(arguments) => {
            let list = match place(&arguments.place)? {
                Place::Directory(catalog) => catalog.list(),
                Place::Server(client) => client.tokens()?,
            };
            if arguments.json {
                output::line(serde_json::to_string_pretty(&list)?);
            } else {
                print(&list);
            }
        }
        TokenCommand::Revoke(arguments) => {
            match place(&arguments.place)? {
                Place::Directory(catalog) => catalog.revoke(&arguments.name)?,
                Place::Server(client) => client.revoke_token(&arguments.name)?,
            }
            output::note(format!("{} is revoked", arguments.name));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What was asked for. Whoever makes the token checks it.
fn asked(arguments: &TokenCreateArguments) -> anyhow::Result<NewToken> {
    Ok(NewToken {
        name: arguments.name.clone(),
        scope: arguments.scope.clone(),
        registries: Some(arguments.registries.clone()).filter(|registries| !registries.is_empty()),
        lifetime: arguments.expires.as_deref().map(lifetime).transpose()?,
    })
}

/// `12h`, `90d` or `1y` in seconds.
fn lifetime(text: &str) -> anyhow::Result<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[split..] {
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "y" => 365 * 86_400,
        _ => 0,
    };
    match text[..split].parse::<u64>().ok().and_then(|number| number.checked_mul(unit)) {
        Some(seconds @ 60..=315_360_000) => Ok(seconds),
        _ => bail!("--expires: `{text}` is not a time from 1m to 10y, like 12h, 90d or 1y"),
    }
}

/// Where tokens are kept.
enum Place {
    Directory(Opened),
    Server(Client),
}

/// A data directory, open for as long as the command runs.
struct Opened {
    runtime: tokio::runtime::Runtime,
    catalog: Catalog,
}

fn place(place: &TokenPlace) -> anyhow::Result<Place> {
    if let Some(server) = &place.server {
        return Ok(Place::Server(Client::new(server)?));
    }
    let settings = ServeArguments {
        data: place.data.clone(),
        config: place.config.clone(),
        ..ServeArguments::default()
    };
    let data = Settings::read(&settings)?.data.value;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime could not be started")?;
    match runtime.block_on(Catalog::open(&data, catalog::Options::default())) {
        Ok((catalog, _)) => Ok(Place::Directory(Opened { runtime, catalog })),
        Err(OpenError::InUse { directory, pid }) => in_use(directory, pid),
        Err(error) => Err(error.into()),
    }
}

/// A server holds the directory: it is asked in its place.
fn in_use(directory: PathBuf, pid: Option<u32>) -> anyhow::Result<Place> {
    let who = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
    if std::env::var_os(TOKEN).is_none_or(|token| token.is_empty()) {
        return Err(anyhow!(
            "a server uses {} ({who}), so tokens are made by asking it\n  hint: put an admin token into {TOKEN}, and the server's URL into --server if it is not {USUAL_SERVER}\n  hint: there is no admin token yet? Stop the server, run this again, and start it: that is for the first one alone",
            directory.display()
        ));
    }
    output::note(format!("a server uses {} ({who}); asking {USUAL_SERVER}", directory.display()));
    Ok(Place::Server(Client::new(USUAL_SERVER)?))
}

impl Opened {
    fn create(self, asked: &NewToken) -> anyhow::Result<CreatedToken> {
        let now = now();
        let token = server::tokens::read(asked.clone(), now)
            .map_err(|(part, message)| anyhow!("{part}: {message}"))?;
        let name = token.name.clone();
        let made = self.runtime.block_on(self.catalog.create_token(token, now))?;
        let grants = self.catalog.grants();
        let made = made.zip(grants.named(&name));
        let Some((secret, grant)) = made else {
            bail!(
                "there is a token called `{name}`\n  hint: choose another name, or `formwork token revoke {name}` first"
            );
        };
        let made = CreatedToken { token: server::tokens::said(grant), secret: secret.reveal().to_owned() };
        self.close();
        Ok(made)
    }

    fn list(self) -> TokenList {
        let tokens = self.catalog.grants().list().iter().map(|grant| server::tokens::said(grant)).collect();
        self.close();
        TokenList { tokens, next: None }
    }

    fn revoke(self, name: &str) -> anyhow::Result<()> {
        let known = self.list_names();
        let parsed = name.parse::<TokenName>().ok();
        let revoked = match parsed {
            Some(name) => self.runtime.block_on(self.catalog.revoke_token(&name))?,
            None => false,
        };
        self.close();
        if !revoked {
            let known = if known.is_empty() {
                "there is none at all".to_owned()
            } else {
                format!("there is {}", known.join(", "))
            };
            bail!("there is no token called `{}`\n  hint: {known}", schema::finding::shown(name.as_bytes()));
        }
        Ok(())
    }

    fn list_names(&self) -> Vec<String> {
        self.catalog.grants().list().iter().map(|grant| grant.token.name.to_string()).collect()
    }

    fn close(self) {
        self.runtime.block_on(self.catalog.close());
    }
}

/// A token in a line.
fn said(token: &Token) -> String {
    let registries =
        token.registries.as_ref().map_or_else(|| "all registries".to_owned(), |names| names.join(", "));
    let end =
        token.expires.as_ref().map_or_else(|| "until it is revoked".to_owned(), |end| format!("until {end}"));
    format!("{}: {} on {registries}, {end}", token.name, token.scope)
}

fn print(list: &TokenList) {
    if list.tokens.is_empty() {
        return output::note(
            "there are no tokens; `formwork token create NAME --scope admin` makes the first",
        );
    }
    let rows = list.tokens.iter().map(|token| {
        let or = |text: &Option<String>, other: &str| text.clone().unwrap_or_else(|| other.to_owned());
        vec![
            token.name.clone(),
            token.scope.clone(),
            token.registries.as_ref().map_or_else(|| "all".to_owned(), |names| names.join(", ")),
            or(&token.expires, "when revoked"),
            or(&token.last_used, "never"),
        ]
    });
    output::print(output::table(
        &["NAME", "SCOPE", "REGISTRIES", "ENDS", "LAST USED"],
        &rows.collect::<Vec<_>>(),
    ));
}

fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::lifetime;

    #[test]
    fn lifetimes_are_read() {
        assert_eq!(lifetime("90d").unwrap(), 90 * 86_400);
        assert_eq!(lifetime("1y").unwrap(), 365 * 86_400);
        for bad in ["", "90", "0d", "11y", "d", "-1d", "99999999999999999999d", "1 d"] {
            assert!(lifetime(bad).is_err(), "{bad}");
        }
    }
}
