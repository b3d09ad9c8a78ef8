//! Where a secret is kept: a variable of the environment, or a file. Settings name the place, never the secret, so that
//! they can be shown.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::settings::{Origin, Setting, SettingError};

/// Most bytes of a file that holds a secret.
const LARGEST: u64 = 64 << 10;

/// Where a secret is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SecretSource {
    Variable(String),
    File(PathBuf),
}

impl SecretSource {
    /// The place given under `<key>-env` or `<key>-file`; not both. Files are named from `base` if the settings file
    /// names them, and from where the program was started otherwise.
    pub(crate) fn of(
        key: &str,
        variable: Option<Setting<String>>,
        file: Option<Setting<String>>,
        base: &Path,
    ) -> Result<Setting<Option<SecretSource>>, SettingError> {
        let (value, origin) = match (variable, file) {
            (None, None) => (None, Origin::Default),
            (Some(Setting { value, origin }), None) => (Some(SecretSource::Variable(value)), origin),
            (None, Some(Setting { value, origin: origin @ Origin::File { .. } })) => {
                (Some(SecretSource::File(base.join(value))), origin)
            }
            (None, Some(Setting { value, origin })) => (Some(SecretSource::File(value.into())), origin),
            (Some(Setting { origin, .. }), Some(_)) => {
                let message = format!("{key}-file is given too; give one of them");
                return Err(SettingError { key: format!("{key}-env"), message, origin });
            }
        };
        Ok(Setting { value, origin })
    }

    /// The secret, without a line break at its end.
    pub(crate) fn read(&self, environment: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
        let text = match self {
            SecretSource::Variable(name) => {
                environment(name).ok_or_else(|| format!("the variable {name} is not set"))?
            }
            SecretSource::File(path) => {
                let cannot = |error: &dyn fmt::Display| format!("{} cannot be read: {error}", path.display());
                let size = std::fs::metadata(path).map_err(|error| cannot(&error))?.len();
                if size > LARGEST {
                    return Err(cannot(&format!("{size} bytes are no secret")));
                }
                std::fs::read_to_string(path).map_err(|error| cannot(&error))?
            }
        };
        Ok(text.trim_end_matches(['\r', '\n']).to_owned())
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::Variable(name) => write!(f, "the variable {name}"),
            SecretSource::File(path) => write!(f, "the file {}", path.display()),
        }
    }
}
