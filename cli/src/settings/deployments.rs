//! The settings of what clients of Deployment Manager may keep: how many deployments, how large, for how long.

use std::time::Duration;

use catalog::DeploymentLimits;
use toml::Spanned;

use super::{File, Lookup, Origin, Setting, SettingError, duration, size, typed};
use crate::arguments::ServeArguments;

/// What was set.
#[derive(Debug)]
pub(crate) struct Deployments {
    lifetime: Setting<Duration>,
    each: Setting<u32>,
    each_bytes: Setting<u64>,
}

impl Deployments {
    pub(super) fn read(
        arguments: &ServeArguments,
        lookup: &Lookup<'_>,
        file: &File,
    ) -> Result<Deployments, SettingError> {
        let default = DeploymentLimits::default();
        let text = |flag: &Option<String>, name, file: Option<&Spanned<String>>| {
            lookup.text(flag.clone(), name, file)
        };
        // A number in the file is a number there, and a text everywhere else.
        let number = file.deployments.as_ref();
        let number = number.map(|number| Spanned::new(number.span(), number.get_ref().to_string()));
        Ok(Deployments {
            lifetime: typed(
                "deployment-lifetime",
                text(
                    &arguments.deployment_lifetime,
                    "--deployment-lifetime",
                    file.deployment_lifetime.as_ref(),
                ),
                || Duration::from_secs(default.lifetime.into()),
                duration,
            )?,
            each: typed(
                "deployments",
                text(&arguments.deployments, "--deployments", number.as_ref()),
                || default.each,
                |text| match text.parse::<u32>() {
                    Ok(number @ 0..=100_000) => Ok(number),
                    _ => Err(format!("`{text}` is not a number from 0 to 100000")),
                },
            )?,
            each_bytes: typed(
                "deployment-size",
                text(&arguments.deployment_size, "--deployment-size", file.deployment_size.as_ref()),
                || default.each_bytes,
                size,
            )?,
        })
    }

    /// As the server takes them.
    pub(crate) fn limits(&self) -> DeploymentLimits {
        DeploymentLimits {
            each: self.each.value,
            each_bytes: self.each_bytes.value,
            lifetime: u32::try_from(self.lifetime.value.as_secs()).unwrap_or(u32::MAX),
            ..DeploymentLimits::default()
        }
    }

    /// The rows for `formwork config`.
    pub(super) fn rows(&self) -> [(String, String, Origin); 3] {
        let Deployments { lifetime, each, each_bytes } = self;
        [
            (
                "deployment-lifetime".to_owned(),
                format!("{}s", lifetime.value.as_secs()),
                lifetime.origin.clone(),
            ),
            ("deployments".to_owned(), each.value.to_string(), each.origin.clone()),
            (
                "deployment-size".to_owned(),
                format!("{}MiB", each_bytes.value >> 20),
                each_bytes.origin.clone(),
            ),
        ]
    }
}
