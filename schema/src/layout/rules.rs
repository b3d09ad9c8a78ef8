//! The rules of the layout convention. Ids never change meaning.

use crate::finding::{Rule, Severity};

macro_rules! rules {
    ($($name:ident = $id:literal $severity:ident $(, $withholds:ident)?: $why:literal, $fix:literal;)*) => {
        $(
            #[doc = $why]
            pub static $name: Rule = Rule {
                id: $id,
                severity: Severity::$severity,
                why: $why,
                fix: $fix,
                withholds: false $(|| stringify!($withholds).len() > 0)?,
            };
        )*
        /// Every rule of this module.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    // The registry.
    REGISTRY_FILE = "registry-file" Error: "registry.yaml says where collections are and cannot be read", "mend registry.yaml";
    REGISTRY_FIELD = "registry-field" Warning: "a field of registry.yaml that is not known does nothing", "correct its name or remove it";
    COLLECTION_PATH = "collection-path" Error: "a collection is mapped to a directory that is not there", "correct the path, or remove the entry";
    COLLECTION_NAME = "collection-name" Warning: "a directory's name cannot be part of a reference", "rename it, or map a collection to it in registry.yaml";
    GROUPED = "grouped-templates" Info: "only templates at the root of a collection can be referenced", "map a collection to the directory in registry.yaml";
    UNREADABLE = "unreadable" Error: "a directory or file could not be read from the repository", "check the repository with `git fsck`";
    TREE_TOO_LARGE = "tree-too-large" Error: "a directory is too large to be walked", "split it into collections";

    // Templates and versions.
    TEMPLATE_NAME = "template-name" Error: "a template's name must be writable in a reference", "rename the directory: letters, digits, `.`, `_` and `-`";
    NAME_CONFUSABLE = "name-confusable" Warning: "two templates have names that people take for each other, so a typo gets the wrong one", "rename one of them";
    VERSION_NAME = "version-name" Error: "a directory that looks like a version is not one, so it is not served", "name it v1, v1.1 or v1.1.0";
    DUPLICATE_VERSION = "duplicate-version" Error: "two directories claim one version, and users get only one of them", "remove one of the two directories";

    // Inside a version directory.
    NO_TEMPLATE = "no-template" Error, withholds: "a version needs a top-level template file, named for the template", "add it, or rename the file to the template's name";
    SEVERAL_TEMPLATES = "several-templates" Error, withholds: "a version holds exactly one top-level template file", "leave one, and move the others to versions or templates of their own";
    UNREADABLE_TEMPLATE = "unreadable-template" Error, withholds: "what kind of template this is cannot be told", "mend the file";
    FORBIDDEN_PATH = "forbidden-path" Error, withholds: "a name in the version cannot be served safely", "rename the file";
    FORBIDDEN_NAME = "forbidden-name" Error: "a name in the repository cannot be served safely, so it is passed over", "rename it";
    VERSION_TOO_LARGE = "version-too-large" Error, withholds: "a version is above the limits on size or number of files", "move what is not needed for processing out of the version directory";
    UNREADABLE_FILE = "unreadable-file" Error, withholds: "a file of the version could not be read from the repository", "check the repository with `git fsck`";
    LINK = "link" Error: "symbolic links are never followed, so whoever relies on this one gets nothing", "replace it with the file it points to";
    SUBMODULE = "submodule" Error: "submodules are never fetched, so what is in this one is missing", "copy the files it stands for";
    NO_EXAMPLE = "no-example" Warning: "without example.yaml nobody can see or test what the template makes", "add an example.yaml with values that process";
}
