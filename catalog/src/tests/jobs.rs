//! Jobs: one for each registry, taken in turn, never by two, never lost.

use super::*;
use schema::RegistryName;

use crate::JobKind::Sync;
use crate::Origin;

async fn two_registries(catalog: &Catalog) -> [RegistryName; 2] {
    let names = ["git.example/a/a", "git.example/b/b"].map(|name| name.parse::<RegistryName>().unwrap());
    for name in &names {
        catalog.add_registry(name, "https://git.example/x", 1).await.unwrap();
    }
    names
}

#[tokio::test]
async fn many_askers_make_one_job_and_the_oldest_is_taken_first() {
    let (_directory, catalog) = fresh().await;
    let [a, b] = two_registries(&catalog).await;
    for now in 100..150 {
        assert!(catalog.ask_job(&b, Sync, "hook", now).await.unwrap());
    }
    assert!(catalog.ask_job(&a, Sync, "poll", 120).await.unwrap());
    assert!(!catalog.ask_job(&"git.example/c/c".parse().unwrap(), Sync, "hook", 1).await.unwrap());
    assert_eq!(catalog.next_job(Sync, "me").await.unwrap(), Some(100));
    assert!(catalog.take_job(Sync, "me", 99, 1_000).await.unwrap().is_none(), "nothing is due yet");
    let first = catalog.take_job(Sync, "me", 200, 1_000).await.unwrap().unwrap();
    assert_eq!((&first.registry, first.due_at, first.cause.as_str()), (&b, 100, "hook"));
    assert_eq!(catalog.take_job(Sync, "me", 200, 1_000).await.unwrap().unwrap().registry, a);
    assert!(catalog.take_job(Sync, "me", 200, 1_000).await.unwrap().is_none(), "each is there once");
}

#[tokio::test]
async fn a_job_asked_for_while_it_runs_is_due_again() {
    let (_directory, catalog) = fresh().await;
    let [a, _] = two_registries(&catalog).await;
    catalog.ask_job(&a, Sync, "hook", 100).await.unwrap();
    catalog.take_job(Sync, "me", 110, 1_000).await.unwrap().unwrap();
    catalog.ask_job(&a, Sync, "hook", 120).await.unwrap();
    assert!(catalog.take_job(Sync, "me", 130, 1_000).await.unwrap().is_none(), "it runs");
    assert_eq!(catalog.finish_job(&a, Sync, "me", 0, 9_000).await.unwrap(), Some(120));
    catalog.take_job(Sync, "me", 140, 1_000).await.unwrap().unwrap();
    assert_eq!(catalog.finish_job(&a, Sync, "me", 3, 9_000).await.unwrap(), Some(9_000));
    assert_eq!(catalog.take_job(Sync, "me", 9_000, 9_999).await.unwrap().unwrap().attempts, 3);
}

#[tokio::test]
async fn a_lease_keeps_others_away_until_it_runs_out_or_its_owner_is_known_dead() {
    let (_directory, catalog) = fresh().await;
    let [a, _] = two_registries(&catalog).await;
    catalog.ask_job(&a, Sync, "hook", 100).await.unwrap();
    catalog.take_job(Sync, "dead", 100, 1_000).await.unwrap().unwrap();
    assert!(catalog.take_job(Sync, "me", 999, 2_000).await.unwrap().is_none());
    assert!(
        catalog.take_job(Sync, "dead", 1_000, 2_000).await.unwrap().is_none(),
        "its own is not taken twice"
    );
    assert_eq!(catalog.next_job(Sync, "me").await.unwrap(), Some(1_000));
    catalog.renew_jobs(Sync, "dead", 1_500).await.unwrap();
    assert!(catalog.take_job(Sync, "me", 1_400, 2_000).await.unwrap().is_none(), "renewed");
    assert_eq!(catalog.take_job(Sync, "me", 1_500, 2_000).await.unwrap().unwrap().registry, a);
    assert_eq!(catalog.finish_job(&a, Sync, "dead", 0, 5_000).await.unwrap(), None, "it is not its job now");
    assert_eq!(catalog.release_jobs(Sync, "other").await.unwrap(), 1);
    assert_eq!(catalog.take_job(Sync, "other", 1_600, 2_000).await.unwrap().unwrap().registry, a);
}

#[tokio::test]
async fn jobs_and_origins_outlive_a_restart_and_go_with_their_registry() {
    let (directory, catalog) = fresh().await;
    let [a, b] = two_registries(&catalog).await;
    let config = Some("{}".to_owned());
    catalog
        .add_registry_from(&b, "https://git.example/x", None, Origin::Admin, config.clone(), 2)
        .await
        .unwrap();
    catalog.ask_job(&a, Sync, "hook", 100).await.unwrap();
    catalog.ask_job(&b, Sync, "hook", 100).await.unwrap();
    catalog.remove_registry(&a, 3).await.unwrap();
    catalog.close().await;
    drop(catalog);
    let (catalog, _) = Catalog::open(directory.path(), Options::default()).await.unwrap();
    let remembered = catalog.origins().await.unwrap();
    assert_eq!(remembered.len(), 1);
    assert_eq!(
        (&remembered[0].name, remembered[0].origin, &remembered[0].config),
        (&b, Origin::Admin, &config)
    );
    assert_eq!(catalog.take_job(Sync, "me", 100, 200).await.unwrap().unwrap().registry, b);
    assert!(catalog.take_job(Sync, "me", 100, 200).await.unwrap().is_none());
}
