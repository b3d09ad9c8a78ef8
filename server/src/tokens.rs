//! Between what a token is (`catalog`) and how it is said (`wire`): for the API, and for commands that work on a data
//! directory without a server. Neither shows a secret.

use std::collections::BTreeSet;

use catalog::{Grant, NewToken, Scope, TokenName};
use schema::RegistryName;

use crate::time::rfc3339;

/// Longest a token that ends by itself may be good, in seconds: ten years.
const LONGEST: u64 = 10 * 366 * 24 * 60 * 60;

/// What is asked for. `now` is the time it is, in seconds since 1970, UTC.
///
/// # Errors
/// The member that is wrong, and what is wrong with it.
pub fn read(asked: wire::tokens::NewToken, now: i64) -> Result<NewToken, (&'static str, String)> {
    let name = asked.name.parse::<TokenName>().map_err(|error| ("name", error.to_string()))?;
    let scope = asked.scope.parse::<Scope>().map_err(|error| ("scope", error.to_string()))?;
    let parse =
        |name: String| name.parse::<RegistryName>().map_err(|error| ("registries", error.to_string()));
    let registries =
        asked.registries.map(|names| names.into_iter().map(parse).collect::<Result<BTreeSet<_>, _>>());
    let registries = registries.transpose()?;
    if registries.as_ref().is_some_and(BTreeSet::is_empty) {
        let detail = "a token limited to no registry is for nothing; leave them out for all of them";
        return Err(("registries", detail.to_owned()));
    }
    let expires_at = match asked.lifetime {
        None => None,
        Some(seconds @ 1..=LONGEST) => Some(now.saturating_add_unsigned(seconds)),
        Some(_) => {
            return Err((
                "lifetime",
                "a token is good for a second to ten years, or until it is revoked".to_owned(),
            ));
        }
    };
    Ok(NewToken { name, scope, registries, expires_at })
}

/// A token as lists have it.
pub fn said(grant: &Grant) -> wire::tokens::Token {
    let token = &grant.token;
    wire::tokens::Token {
        name: token.name.to_string(),
        scope: token.scope.to_string(),
        registries: token.registries.as_ref().map(|names| names.iter().map(ToString::to_string).collect()),
        created: rfc3339(grant.created_at),
        expires: token.expires_at.map(rfc3339),
        last_used: grant.last_used_at().map(rfc3339),
    }
}
