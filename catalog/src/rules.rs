//! What the catalogue finds itself, by comparing what its registries have with what they had. Ids never change
//! meaning; each has a page under `docs/rules`.

use schema::{Rule, Severity};

macro_rules! rules {
    ($($name:ident = $id:literal $severity:ident: $why:literal, $fix:literal;)*) => {
        $(
            #[doc = $why]
            pub static $name: Rule =
                Rule { id: $id, severity: Severity::$severity, why: $why, fix: $fix, withholds: false };
        )*
        /// Every rule of this module.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    VERSION_MUTATED = "version-mutated" Error: "a version that users rely on was rewritten upstream; its first bytes stay served", "publish the change as a new version and undo it in this one, or have an operator accept it";
    DOCUMENTATION_REVISED = "documentation-revised" Info: "the documentation of a settled version was changed, so its digest is another", "nothing; whoever pinned the digest still gets the earlier bytes";
    MASS_DROP = "mass-drop" Error: "many versions are missing upstream at once, which is more often a mishap than meant", "put them back upstream, or have an operator accept that they are gone";
    HISTORY_REWRITTEN = "history-rewritten" Warning: "the branch does not follow from the commit that was published before", "find out who moved the branch; an operator accepts it once that is known";
}
