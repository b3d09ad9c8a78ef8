//! What a viewer may not see is absent, whatever is asked.

use super::*;
use crate::{NewToken, Scope, Visibility};

fn secret() -> Registry {
    Registry::new("github.com/acme/secret")
        .version("vault:v1.0.0", &[("vault.yaml", "hidden"), ("README.md", "zanzibar quux")])
        .described("Where the zanzibar is")
        .version("db/redis:v9.0.0", &[("redis.yaml", "hidden too")])
        .private()
}

async fn both() -> (tempfile::TempDir, Catalog) {
    let (directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    secret().publish(&catalog).await;
    (directory, catalog)
}

#[tokio::test]
async fn a_private_registry_is_seen_by_whoever_may() {
    let (_directory, catalog) = both().await;
    let name = secret().name().clone();
    let limited = |name: &str| Viewer::Granted(Arc::new([name.parse().unwrap()].into()));
    let (mine, other) = (limited("GitHub.com/Acme/secret"), limited("github.com/acme/elsewhere"));
    let snapshot = catalog.snapshot();
    let sees = |viewer: &Viewer| snapshot.registry(viewer, &name).is_some();
    assert_eq!([ANYBODY, &other, &mine, &Viewer::Operator].map(sees), [false, false, true, true]);
    assert_eq!(snapshot.counts(ANYBODY).registries, 1);
    assert_eq!(snapshot.counts(&mine).registries, 2);
    let digest = snapshot.registry(&mine, &name).unwrap().content(
        &snapshot
            .resolve(&mine, &"github.com/acme/secret/vault:v1".parse().unwrap(), None)
            .unwrap()
            .version
            .digest,
    );
    let blob = digest.unwrap().files[0].digest;
    assert_eq!(catalog.blob(ANYBODY, &name, &blob), Blob::Absent);
    assert!(catalog.blob_or_load(&mine, &name, &blob).await.unwrap().is_some());
}

#[tokio::test]
async fn hiding_takes_effect_at_once_and_survives_a_restart() {
    let (directory, catalog) = both().await;
    let name = acme().name().clone();
    assert_eq!(catalog.search(ANYBODY, &Query::text("redis")).total, 1);
    assert!(catalog.set_visibility(&name, Visibility::Private, 5_000).await.unwrap());
    assert!(catalog.snapshot().registry(ANYBODY, &name).is_none());
    assert_eq!(catalog.search(ANYBODY, &Query::text("redis")).total, 0);
    // Who says nothing about it leaves it as it is.
    let source = acme().publication.source;
    catalog.add_registry(&name, &source, 6_000).await.unwrap();
    catalog.close().await;
    drop(catalog);
    let (catalog, _) = open(directory.path()).await;
    assert!(catalog.snapshot().registry(ANYBODY, &name).is_none());
    assert!(catalog.snapshot().registry(&Viewer::Operator, &name).is_some());
    assert!(!catalog.set_visibility(&"a.example/b/c".parse().unwrap(), Visibility::Public, 1).await.unwrap());
}

#[tokio::test]
async fn tokens_are_found_without_sql_and_outlive_a_restart_but_not_their_end() {
    let (directory, catalog) = fresh().await;
    let token = |name: &str, expires_at| NewToken {
        name: name.parse().unwrap(),
        scope: Scope::Write,
        registries: Some([acme().name().clone()].into()),
        expires_at,
    };
    let secret = catalog.create_token(token("ci", Some(2_000)), 1_000).await.unwrap().unwrap();
    assert!(catalog.create_token(token("ci", None), 1_000).await.unwrap().is_none(), "names are taken once");
    let before = catalog.statements();
    let grant = catalog.grants().find(secret.reveal(), 1_500).unwrap();
    assert!(catalog.grants().find("fwk_no", 1_500).is_none());
    assert_eq!(catalog.statements(), before);
    assert!(grant.covers(acme().name()) && !grant.covers(secret_name()));
    catalog.close().await;
    drop(catalog);

    let (catalog, _) = open(directory.path()).await;
    let grant = catalog.grants().find(secret.reveal(), 1_999).unwrap();
    assert_eq!((grant.token.clone(), grant.created_at), (token("ci", Some(2_000)), 1_000));
    assert!(catalog.grants().find(secret.reveal(), 2_000).is_none(), "it is over");
    assert_eq!(catalog.grants().list()[0].last_used_at(), Some(1_999));
    assert!(catalog.revoke_token(&grant.token.name).await.unwrap());
    assert!(catalog.grants().find(secret.reveal(), 1_999).is_none(), "it is revoked");
    assert!(!catalog.revoke_token(&grant.token.name).await.unwrap());
    catalog.close().await;
    drop(catalog);
    // The secret was nowhere on the disk while it was good, let alone after.
    for entry in std::fs::read_dir(directory.path()).unwrap().flatten().filter(|entry| entry.path().is_file())
    {
        let bytes = std::fs::read(entry.path()).unwrap();
        let text = secret.reveal().as_bytes();
        assert!(!bytes.windows(text.len()).any(|part| part == text), "{}", entry.path().display());
    }
}

fn secret_name() -> &'static schema::RegistryName {
    static NAME: std::sync::LazyLock<schema::RegistryName> =
        std::sync::LazyLock::new(|| "github.com/acme/secret".parse().unwrap());
    &NAME
}

/// Attack row 30: finding out that there is nothing takes the same work whether something is hidden or not. Work is
/// counted in names compared, not in time, which would tell of the machine.
#[tokio::test]
async fn what_is_hidden_takes_the_work_of_what_is_not_there() {
    let (_directory, catalog) = both().await;
    let (_other, without) = fresh().await;
    acme().publish(&without).await;
    let work = |catalog: &Catalog, reference: &str| {
        let snapshot = catalog.snapshot();
        let reference = reference.parse().unwrap();
        let before = crate::locate::COMPARISONS.get();
        let missing = snapshot.resolve(ANYBODY, &reference, None).unwrap_err();
        (crate::locate::COMPARISONS.get() - before, missing.to_string(), missing.suggestions())
    };
    for (hidden, nowhere) in [
        ("github.com/acme/secret/vault:v1", "github.com/acme/sacret/vault:v1"),
        ("github.com/acme/secret/vault:v8", "github.com/acme/sacret/vault:v8"),
        ("github.com/acme/secret/db/redis", "github.com/acme/sacret/db/redis"),
    ] {
        assert_eq!(work(&catalog, hidden).0, work(&catalog, nowhere).0, "{hidden}");
        assert_eq!(work(&catalog, hidden), work(&without, hidden), "{hidden}");
    }
    for text in ["zanzibar", "zanzibat", "quux", "store", "stroe", "redis registry:secret", ""] {
        let (here, there) =
            (catalog.search(ANYBODY, &Query::text(text)), without.search(ANYBODY, &Query::text(text)));
        let generation = there.generation;
        assert_eq!(crate::SearchAnswer { generation, ..here }, there, "{text}");
    }
}

/// How much a word counts does not tell of texts that are hidden, nor does what a mistyped one is taken for.
#[tokio::test]
async fn hidden_texts_change_no_ranking() {
    let (_directory, catalog) = fresh().await;
    let public = Registry::new("github.com/acme/open")
        .version("alpha:v1.0.0", &[("alpha.yaml", "a"), ("README.md", "common rare words here")])
        .described("common")
        .version("beta:v1.0.0", &[("beta.yaml", "b"), ("README.md", "common common common")])
        .described("rare");
    public.publish(&catalog).await;
    let query = |text: &str| Query { limit: 1, ..Query::text(text) };
    let texts = ["common rare", "rare common", "comon", "words", "alpha common"];
    let before = texts.map(|text| catalog.search(ANYBODY, &query(text)));
    let mut hidden = Registry::new("github.com/acme/hidden").private();
    for number in 0..50 {
        let name = format!("t{number}:v1.0.0");
        let file = format!("t{number}.yaml");
        hidden =
            hidden.version(&name, &[(&file, &name), ("README.md", "comon rare rare rare")]).described("rare");
    }
    hidden.publish(&catalog).await;
    for (text, before) in texts.into_iter().zip(before) {
        let after = catalog.search(ANYBODY, &query(text));
        assert_eq!(crate::SearchAnswer { generation: before.generation, ..after }, before, "{text}");
    }
    assert_eq!(catalog.search(&Viewer::Operator, &query("comon")).total, 50, "who may, finds them");
}
