//! The arguments of commands that look at what a server has.

use std::path::PathBuf;

use clap::Args;

use super::ServerArguments;

#[derive(Debug, Args)]
#[command(
    after_help = "All words must be found, in names, descriptions, tags, parameters, kinds of objects or READMEs; the last may be\nunfinished, and one typing error in each is forgiven. Words may carry filters:\n\n  registry:acme/templates   collection:databases   kind:chart (template, dm, broker, plan)\n  has:StatefulSet           tag:cache              health:healthy (warnings, errors)\n\nExit status: 0 something was found, 1 nothing was, 2 the server could not be asked.\n\nExamples:\n  formwork search queue for messages\n  formwork search kind:template has:StatefulSet\n  formwork search redis --tag cache --json"
)]
pub(crate) struct SearchArguments {
    /// What to look for
    pub(crate) query: Vec<String>,
    /// Only in this registry, by its name or the end of it; may be given again
    #[arg(long, value_name = "NAME")]
    pub(crate) registry: Vec<String>,
    /// Only in collections of this name; may be given again
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Vec<String>,
    /// Only of this kind; may be given again
    #[arg(long)]
    pub(crate) kind: Vec<String>,
    /// Only what makes objects of this kind; may be given again, and then makes all of them
    #[arg(long, value_name = "KIND")]
    pub(crate) has: Vec<String>,
    /// Only with this tag; may be given again, and then with all of them
    #[arg(long)]
    pub(crate) tag: Vec<String>,
    /// Only of this health: healthy, warnings or errors; may be given again
    #[arg(long)]
    pub(crate) health: Vec<String>,
    /// At most this many, up to 100
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Go on behind a page: `next` of its JSON
    #[arg(long)]
    pub(crate) cursor: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
    /// Print the server's answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 here it is, 2 there is none, or the server could not be asked.\n\nExamples:\n  formwork list                                       registries\n  formwork list github.com/acme/templates             its templates\n  formwork list github.com/acme/templates/databases   those of a collection\n  formwork list databases                             the same, in the default registry"
)]
pub(crate) struct ListArguments {
    /// A registry, perhaps with a collection; or a collection of the default registry [default: all registries]
    pub(crate) place: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
    /// Print the server's list as JSON, all of its pages
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 here it is, 2 there is none, or the server could not be asked.\n\nExamples:\n  formwork show databases/redis\n  formwork show github.com/acme/templates/databases/redis:v1.0"
)]
pub(crate) struct ShowArguments {
    /// The reference: [registry/][collection/]template[:version]
    pub(crate) reference: String,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
    /// Print the server's answer as JSON, with its parameters as a JSON Schema in `parameters`
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 here they are, 2 there is no such template, or the server could not be asked.\n\nExample:\n  formwork versions databases/redis"
)]
pub(crate) struct VersionsArguments {
    /// The template: [registry/][collection/]template
    pub(crate) reference: String,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
    /// Print the server's list as JSON, all of its pages
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The version may be left out (the highest), be v1.1 (its highest patch), =v1.1.0 (exactly that) or ^v1.1\n(the highest minor).\n\nExit status: 0 here it is, 2 there is none, or the server could not be asked.\n\nExamples:\n  formwork resolve web/nginx:v1\n  formwork resolve github.com/acme/templates/databases/redis:=v1.1.0 --json"
)]
pub(crate) struct ResolveArguments {
    /// The reference: [registry/][collection/]template[:version]
    pub(crate) reference: String,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
    /// Print the server's answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Every file is held against its digest, and all of them against the digest of the version, as `formwork digest`\nprints it. The directory appears when all is there; one that exists and is not empty is left as it is.\n\nExit status: 0 it was fetched, 2 it was not, and nothing was written.\n\nExamples:\n  formwork pull databases/redis:v1                  into redis/v1.0.2\n  formwork pull databases/redis:v1 --to ./redis\n  formwork process redis/v1.0.2 -p NAME=shop        what was fetched, processed here"
)]
pub(crate) struct PullArguments {
    /// The reference: [registry/][collection/]template[:version][@sha256:digest]
    pub(crate) reference: String,
    /// The directory to make [default: TEMPLATE/VERSION]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) to: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
    /// Print what was fetched as JSON: reference, digest, directory, files
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Where there is no browser, or no terminal, the address is printed.\n\nExamples:\n  formwork open databases/redis\n  formwork open                   the server's first page"
)]
pub(crate) struct OpenArguments {
    /// The reference: [registry/][collection/]template[:version] [default: the server's first page]
    pub(crate) reference: Option<String>,
    /// Print the address and open nothing
    #[arg(long)]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  formwork completions bash > ~/.local/share/bash-completion/completions/formwork\n  formwork completions zsh > ~/.zfunc/_formwork\n  formwork completions fish > ~/.config/fish/completions/formwork.fish"
)]
pub(crate) struct CompletionsArguments {
    /// bash, zsh, fish, elvish or powershell
    pub(crate) shell: clap_complete::Shell,
}
