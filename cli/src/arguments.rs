//! The command line: every command and flag, with the help that teaches it.

mod browse;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::dm::DmArguments;

use crate::process::form::OutputForm;

pub(crate) use browse::*;

/// A Git-backed template registry for Kubernetes.
///
/// Formwork indexes repositories of templates, resolves `name:version` references, and processes any template
/// into Kubernetes objects.
#[derive(Debug, Parser)]
#[command(
    name = "formwork",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
#[command(
    after_help = "Try it:\n  formwork serve examples/registry          index and serve a directory\n  formwork search redis                     find a template on the server\n  formwork show databases/redis             see what it takes and what it makes\n  formwork pull databases/redis:v1          fetch its files\n  formwork process web/nginx:v1 -p NAME=a   make objects of it\n  formwork check .                          see what users would stumble over"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Index registries and serve them
    Serve(ServeArguments),
    /// Show every setting of `serve`, and where its value came from
    Config(ServeArguments),
    /// Check a registry, a collection, a template or one version, and say what is wrong where
    Check(CheckArguments),
    /// Search a server for templates
    Search(SearchArguments),
    /// List a server's registries, or what is in one
    List(ListArguments),
    /// Show what a template is for, what it takes and what it makes
    Show(ShowArguments),
    /// List the versions of a template
    Versions(VersionsArguments),
    /// Ask a server which version a reference gets, and why
    Resolve(ResolveArguments),
    /// Fetch the files of a version into a directory
    Pull(PullArguments),
    /// Open the page of a template in the browser
    Open(OpenArguments),
    /// Print the content digest of a version directory
    Digest(DigestArguments),
    /// Process a template into Kubernetes objects
    Process(ProcessArguments),
    /// Make a Template of objects, as `kubectl get -o yaml` prints them
    Export(ExportArguments),
    /// Make one Template of several
    Merge(MergeArguments),
    /// Make, list and revoke tokens: who may see private registries, and change things
    #[command(subcommand)]
    Token(TokenCommand),
    /// Have a server look at a registry now, and wait until it is in step
    Sync(SyncArguments),
    /// Let in what a server held back: a rewrite of a settled version, versions that are missing, a moved branch
    Accept(AcceptArguments),
    /// Erase a version from a server, for good
    Purge(PurgeArguments),
    /// Render a Go template with values, to try it out
    Template(TemplateArguments),
    /// Check a data directory for what must hold of it, and mend what can be
    Fsck(FsckArguments),
    /// Print what makes a shell complete the words of this program
    Completions(CompletionsArguments),
    /// Deployment Manager's client: deploy, expand and describe with the command lines of `dm`
    Dm(DmArguments),
}

#[derive(Debug, Default, Args)]
#[command(
    after_help = "The server must be stopped: one process at a time has a data directory.\nThe exit code is 0 if nothing is wrong or everything was mended, 1 if something is left.\n\nExamples:\n  formwork fsck --data /var/lib/formwork\n  formwork fsck --data /var/lib/formwork --repair"
)]
pub(crate) struct FsckArguments {
    /// The server's data directory [default: as `serve` has it]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) data: Option<PathBuf>,
    /// File of the server's settings, to find the data directory [default: formwork.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Put right what is derived, and forget damaged bytes so that the next sync reads them again
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Default, Args)]
#[command(
    after_help = "Settings come from the flag, then from FORMWORK_… in the environment (FORMWORK_LISTEN, FORMWORK_DATA, …),\nthen from the file, then from the default. `formwork config` shows which.\n\nA registry is NAME=SOURCE, or just a source: a directory is then called localhost/<parent>/<directory>,\nand a Git URL by its host and path.\n\nExamples:\n  formwork serve examples/registry\n  formwork serve --registry github.com/acme/templates=https://github.com/acme/templates.git\n  formwork serve https://git.example/a/b --branch git.example/a/b=stable --option git.example/a/b:password-file=token"
)]
pub(crate) struct ServeArguments {
    /// Registries to serve, each NAME=SOURCE or a source (a directory or a Git URL)
    #[arg(value_name = "REGISTRY")]
    pub(crate) registries: Vec<String>,
    /// A registry to serve; may be given again
    #[arg(long = "registry", value_name = "NAME=SOURCE")]
    pub(crate) registry: Vec<String>,
    /// The branch of a registry to read; may be given again
    #[arg(long, value_name = "NAME=BRANCH")]
    pub(crate) branch: Vec<String>,
    /// The tag of a registry to read; may be given again
    #[arg(long, value_name = "NAME=TAG")]
    pub(crate) tag: Vec<String>,
    /// What else is known of a registry, as in its table in formwork.toml: username, password-file, password-env,
    /// ca-file, ssh-key, ssh-agent, known-hosts; may be given again
    #[arg(long, value_name = "NAME:KEY=VALUE")]
    pub(crate) option: Vec<String>,
    /// Where short references go: a registry's name, and perhaps a collection [default: the first registry]
    #[arg(long, value_name = "NAME[/COLLECTION]")]
    pub(crate) default_registry: Option<String>,
    /// Address and port to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Directory for the store, the search index and mirrors [default: formwork in the user's data directory]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) data: Option<PathBuf>,
    /// Directory for Python compiled for this machine, of which only this user may write to it [default: `python` in the
    /// data directory]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) python_cache: Option<PathBuf>,
    /// The URL people reach this server by; absolute links are made from it alone
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Certificate chain in PEM; with --tls-key, serve https
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key in PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Processes that templates run in [default: one for each core, at least two]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) workers: Option<String>,
    /// Time between two looks at a Git source, like 30s, 5m or 1h [default: 5m]
    #[arg(long, value_name = "TIME")]
    pub(crate) poll: Option<String>,
    /// Remove registries that were served before and are not named any more, with everything published from them;
    /// otherwise they stay served as they were
    #[arg(long)]
    pub(crate) remove_unlisted: bool,
    /// How long after its first publication a version from Git may still be rewritten, like 0s, 30m or 1h [default: 1h]
    #[arg(long, value_name = "TIME")]
    pub(crate) settle: Option<String>,
    /// Share of a registry's versions above which they do not go all at once [default: 20%]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) drop_share: Option<String>,
    /// Bytes one fetch may receive, like 512MiB or 2GiB [default: 2GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) fetch_limit: Option<String>,
    /// Time one fetch and scan may take [default: 15m]
    #[arg(long, value_name = "TIME")]
    pub(crate) fetch_time: Option<String>,
    /// How long a deployment that `dm` recorded is kept, like 30m or 24h [default: 24h]
    #[arg(long, value_name = "TIME")]
    pub(crate) deployment_lifetime: Option<String>,
    /// Deployments one user may have recorded; the server keeps ten times as many [default: 100]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) deployments: Option<String>,
    /// Bytes of all deployments of one user, like 32MiB [default: 32MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) deployment_size: Option<String>,
    /// Certificates in PEM that vouch for https servers of registries, in place of the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Private key for ssh servers of registries
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_key: Option<PathBuf>,
    /// Keys of ssh servers; one that is not in it is not talked to [default: ~/.ssh/known_hosts, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) known_hosts: Option<PathBuf>,
    /// Registries added over the API may be at addresses that are not public
    #[arg(long)]
    pub(crate) allow_private_addresses: bool,
    /// Deployment Manager: types that are URLs with this beginning are fetched, like https://HOST/DIRECTORY/; may be
    /// given again [default: none]
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    pub(crate) allow_url: Vec<String>,
    /// Write one line for every request to this file (`-` for standard output)
    #[arg(long, value_name = "FILE")]
    pub(crate) access_log: Option<PathBuf>,
    /// Requests one client may make, like 600000/60s; `off` is without end
    #[arg(long, value_name = "RATE")]
    pub(crate) rate_limit: Option<String>,
    /// Searches one client may make, like 60000/60s
    #[arg(long, value_name = "RATE")]
    pub(crate) rate_limit_search: Option<String>,
    /// Templates one client may have processed, like 60000/60s
    #[arg(long, value_name = "RATE")]
    pub(crate) rate_limit_process: Option<String>,
    /// File with the secret that deliveries to /webhooks/… are signed with; without a secret none is taken
    #[arg(long, value_name = "FILE")]
    pub(crate) webhook_secret_file: Option<PathBuf>,
    /// Variable of the environment that holds it, in place of a file
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) webhook_secret_env: Option<String>,
    /// Read settings from this file [default: formwork.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print settings as JSON (`config` only)
    #[arg(long, hide = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
#[command(
    after_help = "While no server runs, these work on its data directory. While one runs, it holds the directory,\nand they ask it, with an admin token in FORMWORK_TOKEN. So the first token is made before it starts:\n\n  formwork token create me --scope admin\n  formwork serve …\n  FORMWORK_TOKEN=fwk_… formwork token create ci --registry github.com/acme/private --expires 90d"
)]
pub(crate) enum TokenCommand {
    /// Make a token and print its secret, which is not kept and cannot be had again
    Create(TokenCreateArguments),
    /// List tokens: what they are for, what they allow, when they were last used
    List(TokenListArguments),
    /// Revoke a token, for every request from now on
    Revoke(TokenRevokeArguments),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Scopes, each with those before it:\n  read   see private registries, and process their templates\n  write  have registries brought up to date\n  admin  add, hide and remove registries, accept what was held back, purge, give out tokens\n\nThe secret is the only line on standard output:\n  FORMWORK_TOKEN=$(formwork token create me --scope admin)"
)]
pub(crate) struct TokenCreateArguments {
    /// What it is for; no two tokens have one name
    pub(crate) name: String,
    /// What it allows: read, write or admin
    #[arg(long, default_value = "read")]
    pub(crate) scope: String,
    /// Only this registry; may be given again [default: all]
    #[arg(long = "registry", value_name = "NAME")]
    pub(crate) registries: Vec<String>,
    /// How long it is good, like 12h, 90d or 1y [default: until it is revoked]
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<String>,
    #[command(flatten)]
    pub(crate) place: TokenPlace,
}

#[derive(Debug, Args)]
pub(crate) struct TokenListArguments {
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: TokenPlace,
}

#[derive(Debug, Args)]
pub(crate) struct TokenRevokeArguments {
    /// The token's name
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: TokenPlace,
}

/// Where tokens are kept: a data directory, or behind a server.
#[derive(Debug, Args)]
pub(crate) struct TokenPlace {
    /// The data directory of the server [default: as for `serve`]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) data: Option<PathBuf>,
    /// Read settings from this file [default: formwork.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Ask this server, whether it runs here or elsewhere
    #[arg(long, value_name = "URL", env = "FORMWORK_SERVER", conflicts_with = "data")]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ServerArguments {
    /// The server to ask
    #[arg(long, value_name = "URL", env = "FORMWORK_SERVER", default_value = "http://127.0.0.1:8080")]
    pub(crate) server: String,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 nothing wrong, 1 errors were found, 2 the check could not be made.\nWarnings alone are 0, unless --strict is given."
)]
pub(crate) struct CheckArguments {
    /// A registry, a collection, a template or a version directory
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// Warnings count as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// Do not process each example.yaml
    #[arg(long)]
    pub(crate) no_examples: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The digest is over names, executable bits and bytes; docs/digest.md says exactly how."
)]
pub(crate) struct DigestArguments {
    /// A version directory
    pub(crate) path: PathBuf,
    /// Print the listing the digest is made of
    #[arg(long)]
    pub(crate) listing: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 it processed, 1 it does not process, 2 it could not be tried.\n\nTARGET is a version directory, a template file or a Deployment Manager configuration on this machine, or a\nreference, which the server processes. What a template here refers to is looked up in the registry it stands in,\nthen on the server. A values file may name its template (`template: REFERENCE`); then no target is needed. `-` reads standard input.\n\nForms of output:\n  stream            YAML documents, for kubectl apply -f -\n  yaml, json        the original's own form: for Templates, the List that `oc process` prints\n  full              the whole answer as JSON\n  name              kind and name of each object\n  describe          the processed Template, for reading\n  jsonpath=TEXT, go-template=TEXT, jsonpath-file=FILE, go-template-file=FILE\n\nExamples:\n  formwork process web/nginx:v1 -p NAME=shop | kubectl apply -f -\n  formwork process ./redis/v1.0.0 --values ./redis/v1.0.0/example.yaml\n  formwork process ./redis.yaml -p NAME=a -o json\n  formwork process -f redis.yaml --param-file redis.env -o name\n  formwork process databases/redis:v1 --parameters\n  formwork process ./config.yaml --layout              a configuration with local imports, as dm expand did\n  formwork process ./config.yaml -p disk.size=10 -p 'zones:=[a, b]'"
)]
pub(crate) struct ProcessArguments {
    /// A reference, a version directory, a template file, a configuration, or `-`
    pub(crate) target: Option<String>,
    /// Parameters, as with -p
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) assignments: Vec<String>,
    /// Set a parameter; may be given again. Deployment Manager: `a.b=c` nests, `a:=[1, 2]` is YAML, and with several
    /// resources the first step is a resource's name
    #[arg(short = 'p', long = "param", value_name = "NAME=VALUE")]
    pub(crate) parameters: Vec<String>,
    /// Set parameters from a file of NAME=VALUE lines (`-` for standard input); -p goes before it
    #[arg(long = "param-file", value_name = "FILE")]
    pub(crate) parameter_files: Vec<PathBuf>,
    /// Read values from this file (`-` for standard input); a Template is the target, as for `oc process -f`
    #[arg(long, short = 'f', alias = "filename", value_name = "FILE")]
    pub(crate) values: Option<PathBuf>,
    /// What to print; FORM is one of those below
    #[arg(short = 'o', long, value_name = "FORM", default_value = "stream", value_parser = OutputForm::parse)]
    pub(crate) output: OutputForm,
    /// Print each object for itself, not in a List
    #[arg(long)]
    pub(crate) raw: bool,
    /// Only a template on this machine will do: a reference in its place is an error
    #[arg(long)]
    pub(crate) local: bool,
    /// List the parameters, and process nothing
    #[arg(
        long = "parameters",
        conflicts_with_all = ["parameters", "parameter_files", "assignments", "labels", "output", "raw"]
    )]
    pub(crate) parameters_table: bool,
    /// Ask for the parameters that are not given: what they are for, their defaults, secrets without showing them
    #[arg(long, short = 'i', conflicts_with = "parameters_table")]
    pub(crate) interactive: bool,
    /// Mark every object with a label that is this processing's alone, so that several live in one namespace; without
    /// a name one is made
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) instance: Option<String>,
    /// Deployment Manager: print the layout, the tree of which template made what
    #[arg(long)]
    pub(crate) layout: bool,
    /// The directory a configuration's imports are in [default: its own]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Deployment Manager: fetch types that are URLs with this beginning; may be given again
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    pub(crate) allow_url: Vec<schema::remote::UrlPrefix>,
    /// What the registry around the template is called [default: what registry.yaml or the Git remote says]
    #[arg(long = "as", value_name = "REGISTRY")]
    pub(crate) name_of_tree: Option<schema::RegistryName>,
    /// The name of what is deployed [default: the template's]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The namespace the objects are for
    #[arg(long, short = 'n')]
    pub(crate) namespace: Option<String>,
    /// A label for every object; may be given again, or several joined by commas
    #[arg(short = 'l', long = "label", value_name = "NAME=VALUE", value_delimiter = ',')]
    pub(crate) labels: Vec<String>,
    /// The notation of a Kubernetes Template: kubernetes for $(P), openshift for ${P}
    #[arg(long)]
    pub(crate) dialect: Option<String>,
    /// References to nothing are errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// Parameters the template does not have are passed over
    #[arg(long)]
    pub(crate) ignore_unknown_parameters: bool,
    /// Make generated values repeatable
    #[arg(long)]
    pub(crate) seed: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

/// How a Template is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TemplateForm {
    /// YAML
    Yaml,
    /// JSON
    Json,
}

#[derive(Debug, Args)]
#[command(
    after_help = "What a server set is removed, and what it makes by itself is left out. Processing the Template with its\ndefaults gives the objects back. What can be parameterised:\n  names      names of objects, in references, labels and selectors as well\n  images     images of containers\n  replicas   how many pods there are\n  resources  what containers and claims request\n  secrets    what secrets hold\n\nExamples:\n  kubectl get deployment,service,configmap -l app=shop -o yaml | formwork export --as-template shop\n  formwork export -f objects.yaml --as-template shop --parameterise names,images,replicas\n  formwork export -f before.yaml -f more.yaml --kind deployment --name 'shop-*' --as-template shop"
)]
pub(crate) struct ExportArguments {
    /// Objects: a file, a directory of files, or `-`; may be given again [default: -]
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The name of the Template
    #[arg(long, value_name = "NAME")]
    pub(crate) as_template: String,
    /// Only objects with these labels, as for kubectl: app=shop, tier!=db, env in (a, b)
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,
    /// Only objects of this kind; may be given again
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// Only objects of this name, in which * stands for anything; may be given again
    #[arg(long = "name", value_name = "NAME", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
    /// What becomes a parameter, joined by commas, or `all` [default: nothing]
    #[arg(long, alias = "parameterize", value_name = "WHAT", value_delimiter = ',')]
    pub(crate) parameterise: Vec<String>,
    /// Make what secrets hold parameters without a default, so that the Template holds no secret
    #[arg(long)]
    pub(crate) blank_secrets: bool,
    /// The notation: openshift for ${P}, kubernetes for $(P)
    #[arg(long, default_value = "openshift")]
    pub(crate) dialect: String,
    /// What to print
    #[arg(short = 'o', long, value_enum, default_value = "yaml")]
    pub(crate) output: TemplateForm,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Parameters that are declared alike are shared. Parameters that mean different things, objects of the same\nname, and texts that would become references are errors that name both sides. Labels stay with the objects\nof the Template they come from.\n\nExamples:\n  formwork merge web.yaml db.yaml --as-template shop > shop.yaml\n  formwork merge ./web/v1.0.0 ./db/v1.2.0 --rename"
)]
pub(crate) struct MergeArguments {
    /// Template files or version directories
    #[arg(required = true, num_args = 2.., value_name = "TEMPLATE")]
    pub(crate) templates: Vec<String>,
    /// The name of the Template [default: their names, joined]
    #[arg(long, value_name = "NAME")]
    pub(crate) as_template: Option<String>,
    /// Rename parameters that collide: the Template's name goes before the parameter's
    #[arg(long)]
    pub(crate) rename: bool,
    /// What to print
    #[arg(short = 'o', long, value_enum, default_value = "yaml")]
    pub(crate) output: TemplateForm,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The first file is rendered; the others may define what it uses.\n\nExample:\n  formwork template status.tpl --values objects.yaml --profile interoperator"
)]
pub(crate) struct TemplateArguments {
    /// Go templates; the first is rendered
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Read values from this YAML or JSON file
    #[arg(long, short = 'f', value_name = "FILE")]
    pub(crate) values: Option<PathBuf>,
    /// Set a value; `a.b=c` nests; may be given again
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// The functions there are: text, sprig-2.22, sprig-3.2, interoperator or helm
    #[arg(long, value_name = "PROFILE", default_value = "interoperator")]
    pub(crate) profile: String,
    /// A key that is missing is an error
    #[arg(long)]
    pub(crate) strict: bool,
    /// Make random functions repeatable
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Needs a token with the scope admin in FORMWORK_TOKEN. What is held back is a finding of the version (version-mutated)\nor of the registry (mass-drop, history-rewritten).\n\nExamples:\n  formwork accept github.com/acme/templates/redis:v1.0.0       its rewrite takes the version's place\n  formwork accept github.com/acme/templates --drop             the versions it lacks are gone\n  formwork accept github.com/acme/templates --history          its branch was moved on purpose"
)]
pub(crate) struct AcceptArguments {
    /// A version, with `@sha256:…` if only that rewrite is meant; or a registry, with --drop or --history
    pub(crate) reference: String,
    /// The versions that went missing all at once are gone
    #[arg(long, conflicts_with = "history")]
    pub(crate) drop: bool,
    /// The branch was moved on purpose
    #[arg(long)]
    pub(crate) history: bool,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Needs a token with the scope admin in FORMWORK_TOKEN. Everything there ever was of the version is erased, and nothing\nis published under it any more; with `@sha256:…` only that content. Whoever asks for it is told the reason (410).\nRemove it upstream first: mirrors, and whoever clones the repository, get it from there.\n\nExample:\n  formwork purge github.com/acme/templates/redis:v1.0.0 --reason 'It held a password.'"
)]
pub(crate) struct PurgeArguments {
    /// A version, with `@sha256:…` if only that content is meant
    pub(crate) reference: String,
    /// Why, for everybody who asks for it later
    #[arg(long)]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Needs a token with the scope write in FORMWORK_TOKEN. Polling and push hooks do the same by themselves.\n\nExample:\n  formwork sync github.com/acme/templates"
)]
pub(crate) struct SyncArguments {
    /// The registry
    pub(crate) registry: String,
    /// Do not wait for how it goes
    #[arg(long)]
    pub(crate) no_wait: bool,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

/// Checked here so that a wrong address is an error of the flag, with its name.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("`{text}` is not an address and port, like 127.0.0.1:8080"))
}
