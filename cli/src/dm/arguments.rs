//! The command line of `dm`: that of the convention document and of the client of 2016, with its commands and flags.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// What `dm` teaches below its flags.
const EXAMPLES: &str = "A type is NAME:VERSION in the default registry, or the whole reference. A file is a\nconfiguration; what it imports is read beside it.\n\nExamples:\n  dm deploy databases/redis:v1 | kubectl apply -f -\n  dm --registry my-org/my-repo/my-collection deploy redis:v1 --properties name=cache\n  dm deploy github.com/my-org/my-repo/my-collection/redis:v1\n  dm --name shop deploy app.yaml\n  dm describe web/nginx:v1            the properties it takes\n  dm templates --regex redis\n  dm manifest shop                    what was recorded of a deployment, and when\n\nThe server records deployments for a day and sends nothing to a cluster: what `deploy`\nprints is for kubectl. A token is taken from FORMWORK_TOKEN.";

/// Deployment Manager's client, for a Formwork server.
///
/// Expands its templates, and records what was deployed, with the commands and flags of the original.
#[derive(Debug, Parser)]
#[command(name = "dm", version, arg_required_else_help = true, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct DmProgram {
    #[command(flatten)]
    pub(crate) arguments: DmArguments,
}

#[derive(Debug, Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct DmArguments {
    #[command(flatten)]
    pub(crate) flags: DmFlags,
    #[command(subcommand)]
    pub(crate) command: DmCommand,
}

/// Flags may stand before the command, as they had to, or behind it.
#[derive(Debug, Args)]
pub(crate) struct DmFlags {
    /// The server, or the whole address of its manager API
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "FORMWORK_SERVER",
        default_value = "http://127.0.0.1:8080"
    )]
    pub(crate) service: String,
    /// Where short references go: OWNER/REPOSITORY[/COLLECTION] at GitHub, or a registry's whole name
    /// [default: the server's default registry]
    #[arg(long, global = true, value_name = "REGISTRY")]
    pub(crate) registry: Option<String>,
    /// What the deployment is called [default: the template's name, or the file's]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Properties of a template; whole numbers are numbers, all else is text; `a.b=c` nests, `\,` is a comma
    #[arg(long, global = true, value_name = "K=V,K=V")]
    pub(crate) properties: Option<String>,
    /// Only templates that fit this expression
    #[arg(long, global = true, value_name = "EXPRESSION")]
    pub(crate) regex: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DmCommand {
    /// Record a template or configuration as a deployment, and print its objects for `kubectl apply -f -`
    Deploy(Input),
    /// Print what a template or configuration expands to, and its layout
    Expand(Input),
    /// Record a deployment again, with what it is now, and print its objects
    Update(Input),
    /// List your deployments
    List,
    /// Show a deployment
    Get {
        /// The deployment
        deployment: String,
    },
    /// List the manifests of a deployment, or show one
    Manifest {
        /// The deployment; DEPLOYMENT/MANIFEST shows one manifest
        deployment: String,
        /// The manifest
        manifest: Option<String>,
    },
    /// Forget a deployment
    Delete {
        /// The deployment
        deployment: String,
    },
    /// Print the schema of a template: the properties it takes
    Describe {
        /// The type
        #[arg(value_name = "TYPE")]
        of: String,
    },
    /// List the templates of a registry
    Templates,
    /// List the registries of the server
    Registries,
    /// List the types your deployments use
    DeployedTypes,
    /// List the resources of a type in your deployments
    DeployedInstances {
        /// The type, or `all`
        #[arg(value_name = "TYPE")]
        of: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Input {
    /// A type, or a configuration file
    #[arg(value_name = "TYPE|FILE")]
    pub(crate) input: String,
    /// Further files that the configuration imports by their names alone
    #[arg(value_name = "IMPORT")]
    pub(crate) imports: Vec<PathBuf>,
}

/// Go's flags have one dash or two: those of `dm` that have one get their second.
pub(super) fn with_two_dashes(words: Vec<OsString>) -> Vec<OsString> {
    let known = ["service", "registry", "name", "properties", "regex"];
    let doubled = |argument: OsString| {
        let text = argument.to_str().and_then(|text| text.strip_prefix('-'));
        let flag = text.map(|text| text.split('=').next().unwrap_or(text));
        match (text, flag) {
            (Some(text), Some(flag)) if known.contains(&flag) => format!("--{text}").into(),
            _ => argument,
        }
    };
    words.into_iter().map(doubled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> DmArguments {
        let words = std::iter::once("dm").chain(line.split(' ')).map(OsString::from);
        DmProgram::try_parse_from(with_two_dashes(words.collect())).unwrap().arguments
    }

    #[test]
    fn flags_stand_before_or_behind_the_command_with_one_dash_or_two() {
        for line in [
            "--registry my-org/my-repo/my-collection --properties a=1 deploy redis:v1",
            "-registry=my-org/my-repo/my-collection deploy redis:v1 -properties a=1",
            "deploy --registry my-org/my-repo/my-collection redis:v1 --properties a=1",
        ] {
            let DmArguments { flags, command } = parsed(line);
            assert_eq!(flags.registry.as_deref(), Some("my-org/my-repo/my-collection"), "{line}");
            assert_eq!(flags.properties.as_deref(), Some("a=1"), "{line}");
            assert!(
                matches!(command, DmCommand::Deploy(Input { input, .. }) if input == "redis:v1"),
                "{line}"
            );
        }
    }
}
