//! Who sees what, and what a token is needed for.

use catalog::testing::Registry;
use catalog::{NewToken, Scope};
use http::Method;

use crate::kit::{Answer, App, InProcess, acme, inspected};

pub(crate) const SECRET: &str = "github.com/acme/secret";

pub(crate) fn secret() -> Registry {
    Registry::new(SECRET)
        .version(
            "vault:v1.0.0",
            &[("vault.yaml", "apiVersion: v1\nkind: Template\nobjects: []\n# zanzibar\n")],
        )
        .described("Where the zanzibar is")
        .version(
            "web/frontend:v7.0.0",
            &[("frontend.yaml", "apiVersion: v1\nkind: Template\nobjects: []\n# 7\n")],
        )
        .private()
}

/// A server with a public and a private registry.
pub(crate) async fn both() -> App {
    App::with(vec![inspected(acme()), inspected(secret())], Box::new(InProcess), None).await
}

impl App {
    /// A token of this scope, limited to these registries if there are any.
    pub(crate) async fn token(&self, scope: Scope, registries: &[&str]) -> String {
        let registries =
            registries.iter().map(|name| name.parse().unwrap()).collect::<std::collections::BTreeSet<_>>();
        let token = NewToken {
            name: format!("{scope}-{}-of-{}", self.named(scope), registries.len()).parse().unwrap(),
            scope,
            registries: Some(registries).filter(|registries| !registries.is_empty()),
            expires_at: None,
        };
        self.catalog.create_token(token, 1_000).await.unwrap().unwrap().reveal().to_owned()
    }

    fn named(&self, scope: Scope) -> usize {
        self.catalog.grants().list().iter().filter(|grant| grant.token.scope == scope).count()
    }

    pub(crate) async fn get_as(&self, token: &str, path: &str) -> Answer {
        self.send(Method::GET, path, &[("authorization", &format!("Bearer {token}"))], "").await
    }
}

#[tokio::test]
async fn ready_answers_are_given_to_whom_they_were_made_for() {
    let app = both().await;
    let (all, other) = (app.token(Scope::Read, &[]).await, app.token(Scope::Read, &["a.example/b/c"]).await);
    let resolve = format!("/api/v1/resolve?ref={SECRET}/vault:v1");
    let file = format!("/api/v1/templates/{SECRET}/vault:v1/-/files/vault.yaml");
    let found = app.get_as(&all, &resolve).await.json();
    let content = found["files"][0]["url"].as_str().unwrap().to_owned();
    // Twice in turn: made, and from memory.
    for _ in 0..2 {
        for path in [&resolve, &file, &content] {
            assert_eq!(app.get(path).await.status, 404, "{path}");
            assert_eq!(app.get_as(&other, path).await.status, 404, "{path}");
            let answer = app.get_as(&all, path).await;
            assert_eq!(answer.status, 200, "{path}");
            let kept = answer.header("cache-control");
            assert!(kept.starts_with("private, "), "{path}: {kept}");
            assert_eq!(answer.header("vary"), "authorization, cookie", "{path}");
        }
        let public = app.get_as(&all, "/api/v1/resolve?ref=redis:v1").await;
        assert_eq!(public.header("cache-control"), "private, no-cache");
        let content = public.json()["files"][0]["url"].as_str().unwrap().to_owned();
        let kept = app.get_as(&all, &content).await;
        assert_eq!(
            kept.header("cache-control"),
            "public, max-age=31536000, immutable",
            "anybody may have these"
        );
    }
    let revoked = app.catalog.grants().find(&all, 1).unwrap().token.name.clone();
    app.catalog.revoke_token(&revoked).await.unwrap();
    assert_eq!(app.get_as(&all, &resolve).await.status, 401, "a ready answer does not outlive the token");
}

#[tokio::test]
async fn a_token_that_is_not_good_is_an_error_everywhere() {
    let app = both().await;
    for path in ["/", "/api/v1/resolve?ref=redis:v1", "/api/v1/registries", "/metrics"] {
        for header in ["Bearer fwk_0", "bearer ", "BEARER something"] {
            let answer = app.send(Method::GET, path, &[("authorization", header)], "").await;
            assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (401, "no-store"), "{path}");
            let challenge = answer.header("www-authenticate");
            assert_eq!(challenge, r#"Bearer realm="formwork", error="invalid_token""#);
            assert!(answer.json()["type"].as_str().unwrap().ends_with("/unauthenticated"));
        }
        let answer = app.send(Method::GET, path, &[("authorization", "Basic eDp5")], "").await;
        assert_eq!(answer.status, 200, "another scheme is the affair of a proxy: {path}");
    }
}

/// Attack row 31, at the front: a token in an address is refused before anything repeats it.
#[tokio::test]
async fn an_address_with_a_token_in_it_is_refused() {
    let app = both().await;
    let token = app.token(Scope::Admin, &[]).await;
    for path in [
        format!("/api/v1/resolve?ref=redis&token={token}"),
        format!("/api/v1/templates/{token}"),
        format!("/search?q={token}"),
        format!("/{token}/x"),
    ] {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, 400, "{path}");
        assert!(!answer.text().contains(&token), "{}", answer.text());
    }
}

/// A value of a cookie and the word in the forms of a page, once signed in.
async fn sign_in(app: &App, token: &str) -> (String, String) {
    let form = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
    let answer = app.send(Method::POST, "/login", &form, format!("token={token}&next=%2Fregistries")).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/registries"));
    assert_eq!(answer.header("cache-control"), "no-store");
    let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
    let page = app.send(Method::GET, "/registries", &[("cookie", &cookie)], "").await.text();
    let word = page.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    (cookie, word)
}

#[tokio::test]
async fn a_browser_signs_in_sees_and_signs_out() {
    let app = both().await;
    let token = app.token(Scope::Admin, &[]).await;
    assert!(app.get("/").await.text().contains("href=\"/login\""));
    let (cookie, word) = sign_in(&app, &token).await;
    assert!(!cookie.contains(&token) && !word.contains(&token), "the token does not go back");
    let page = app.send(Method::GET, "/registries", &[("cookie", &cookie)], "").await;
    assert!(page.text().contains(SECRET));
    assert_eq!(page.header("cache-control"), "private, no-cache");
    let path = format!("/api/v1/resolve?ref={SECRET}/vault");
    assert_eq!(app.send(Method::GET, &path, &[("cookie", &cookie)], "").await.status, 200);
    assert_eq!(app.get(&path).await.status, 404);
    let form = ("content-type", "application/x-www-form-urlencoded");
    let out = app.send(Method::POST, "/logout", &[form, ("cookie", &cookie)], format!("csrf={word}")).await;
    assert_eq!((out.status.as_u16(), out.header("location")), (303, "/"));
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(
        app.send(Method::GET, &path, &[("cookie", &cookie)], "").await.status,
        404,
        "the session is over"
    );
    // A session ends with its token.
    let (cookie, _) = sign_in(&app, &token).await;
    let name = app.catalog.grants().list()[0].token.name.clone();
    app.catalog.revoke_token(&name).await.unwrap();
    assert_eq!(app.send(Method::GET, &path, &[("cookie", &cookie)], "").await.status, 404);
}

#[tokio::test]
async fn requests_that_other_sites_forge_are_refused() {
    let app = both().await;
    let token = app.token(Scope::Admin, &[]).await;
    let (cookie, word) = sign_in(&app, &token).await;
    let path = format!("/api/v1/registries/{SECRET}");
    let body = r#"{"visibility": "public"}"#;
    let (json, form) =
        (("content-type", "application/json"), ("content-type", "application/x-www-form-urlencoded"));
    let wrong = word.replace(|digit: char| digit.is_ascii_digit(), "a");
    let try_all = [
        app.send(Method::PATCH, &path, &[json, ("cookie", &cookie)], body).await,
        app.send(Method::PATCH, &path, &[json, ("cookie", &cookie), ("x-csrf-token", &wrong)], body).await,
        app.send(
            Method::POST,
            "/api/v1/tokens",
            &[("cookie", &cookie), ("content-type", "text/plain")],
            "{}",
        )
        .await,
        app.send(Method::POST, "/logout", &[form, ("cookie", &cookie)], "").await,
        app.send(Method::POST, "/logout", &[form, ("cookie", &cookie)], format!("csrf={wrong}")).await,
        app.send(Method::DELETE, "/api/v1/tokens/admin-0-of-0", &[("cookie", &cookie)], "").await,
    ];
    for answer in try_all {
        assert_eq!((answer.status.as_u16(), &answer.json()["part"]), (403, &"csrf".into()));
    }
    assert!(app.get(&path).await.status == 404, "nothing was changed");
    let own =
        app.send(Method::PATCH, &path, &[json, ("cookie", &cookie), ("x-csrf-token", &word)], body).await;
    assert_eq!(own.status, 200, "{}", own.text());
    // Nor does another site sign anybody in.
    let login = format!("token={token}");
    for from in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example"), ("origin", "null")] {
        let answer = app
            .send(Method::POST, "/login", &[form, from, ("host", "templates.example")], login.clone())
            .await;
        assert_eq!((answer.status.as_u16(), answer.header("set-cookie")), (403, ""), "{from:?}");
    }
    let wrong = app.send(Method::POST, "/login", &[form], "token=fwk_nonsense&next=//evil.example").await;
    assert_eq!((wrong.status.as_u16(), wrong.header("set-cookie")), (401, ""));
    assert!(wrong.text().contains("unknown, was revoked, or is over") && !wrong.text().contains("evil"));
    let away = app.send(Method::POST, "/login", &[form], format!("{login}&next=//evil.example/")).await;
    assert_eq!((away.status.as_u16(), away.header("location")), (303, "/"));
}

#[tokio::test]
async fn each_scope_allows_what_it_says() {
    let app = both().await;
    let (read, write) = (app.token(Scope::Read, &[]).await, app.token(Scope::Write, &[]).await);
    let (limited, admin) = (app.token(Scope::Admin, &[SECRET]).await, app.token(Scope::Admin, &[]).await);
    let json = ("content-type", "application/json");
    let patch = async |token: Option<&str>, registry: &str| {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let headers =
            bearer.iter().map(|bearer| ("authorization", bearer.as_str())).chain([json]).collect::<Vec<_>>();
        let path = format!("/api/v1/registries/{registry}");
        app.send(Method::PATCH, &path, &headers, r#"{"visibility": "private"}"#).await.status.as_u16()
    };
    let nowhere = "git.example/no/where";
    for registry in [SECRET, nowhere] {
        assert_eq!(patch(None, registry).await, 401);
        assert_eq!(patch(Some(&read), registry).await, 403);
        assert_eq!(patch(Some(&write), registry).await, 403);
    }
    assert_eq!(patch(Some(&limited), crate::kit::REGISTRY).await, 403);
    assert_eq!(patch(Some(&limited), nowhere).await, 403);
    assert_eq!(patch(Some(&limited), SECRET).await, 200);
    assert_eq!(patch(Some(&admin), nowhere).await, 404);
    assert_eq!(app.get("/api/v1/tokens").await.status, 401);
    assert_eq!(app.get_as(&limited, "/api/v1/tokens").await.status, 403, "tokens are not about one registry");
    let list = app.get_as(&admin, "/api/v1/tokens").await;
    assert_eq!((list.status.as_u16(), list.json()["tokens"].as_array().unwrap().len()), (200, 4));
    let create = async |body: &str| {
        let bearer = format!("Bearer {admin}");
        app.send(Method::POST, "/api/v1/tokens", &[json, ("authorization", &bearer)], body.to_owned()).await
    };
    let made = create(
        r#"{"name": "ci", "scope": "read", "registries": ["github.com/acme/secret"], "lifetime": 60}"#,
    )
    .await;
    assert_eq!((made.status.as_u16(), made.header("location")), (201, "/api/v1/tokens/ci"));
    assert!(made.json()["secret"].as_str().unwrap().starts_with("fwk_"));
    assert_eq!(create(r#"{"name": "ci", "scope": "read"}"#).await.status, 409);
    for (body, part) in [
        (r#"{"name": "a b", "scope": "read"}"#, "name"),
        (r#"{"name": "a", "scope": "root"}"#, "scope"),
        (r#"{"name": "a", "scope": "read", "registries": []}"#, "registries"),
        (r#"{"name": "a", "scope": "read", "registries": ["x"]}"#, "registries"),
        (r#"{"name": "a", "scope": "read", "lifetime": 0}"#, "lifetime"),
    ] {
        let answer = create(body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()["part"].as_str()),
            (400, Some(part)),
            "{}",
            answer.text()
        );
    }
}

#[tokio::test]
async fn registries_are_added_and_removed_by_who_may() {
    let app = both().await;
    let new = "git.example/team/new";
    let (admin, other) = (app.token(Scope::Admin, &[]).await, app.token(Scope::Admin, &[SECRET]).await);
    let mine = app.token(Scope::Admin, &[new]).await;
    let post = async |token: Option<&str>, body: &str| {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let json = ("content-type", "application/json");
        let headers =
            bearer.iter().map(|bearer| ("authorization", bearer.as_str())).chain([json]).collect::<Vec<_>>();
        app.send(Method::POST, "/api/v1/registries", &headers, body.to_owned()).await
    };
    let body = r#"{"name": "git.example/team/new", "source": "https://git.example/team/new.git", "visibility": "private"}"#;
    assert_eq!(post(None, "no body is read").await.status, 401);
    assert_eq!(post(Some(&other), body).await.status, 403);
    let added = post(Some(&mine), body).await;
    assert_eq!(
        (added.status.as_u16(), added.header("location")),
        (201, "/api/v1/registries/git.example/team/new")
    );
    assert_eq!((&added.json()["visibility"], &added.json()["name"]), (&"private".into(), &new.into()));
    assert_eq!(post(Some(&admin), body).await.status, 409);
    assert_eq!(app.get("/api/v1/registries/git.example/team/new").await.status, 404, "it was never public");
    for (body, part) in [
        (r#"{"name": "x", "source": "https://git.example/a.git"}"#, "name"),
        (r#"{"name": "a.example/b/c", "source": "file:///etc"}"#, "source"),
        (r#"{"name": "a.example/b/c", "source": "https://169.254.169.254/a"}"#, "source"),
        (r#"{"name": "a.example/b/c", "source": "https://me:secret@git.example/a"}"#, "source"),
        (r#"{"name": "a.example/b/c", "source": "https://git.example/a", "visibility": "x"}"#, "visibility"),
    ] {
        let answer = post(Some(&admin), body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()["part"].as_str()),
            (400, Some(part)),
            "{}",
            answer.text()
        );
        assert!(!answer.text().contains("secret@"), "{}", answer.text());
    }
    let delete = async |token: &str, name: &str| {
        let bearer = format!("Bearer {token}");
        let path = format!("/api/v1/registries/{name}");
        app.send(Method::DELETE, &path, &[("authorization", &bearer)], "").await.status.as_u16()
    };
    assert_eq!(delete(&other, new).await, 403);
    assert_eq!(delete(&admin, new).await, 204);
    assert_eq!(delete(&admin, new).await, 404);
    // On every address at once: what was ready in memory, content by digest, search.
    let resolve = "/api/v1/resolve?ref=redis:v1";
    let content = app.get(resolve).await.json()["files"][0]["url"].as_str().unwrap().to_owned();
    assert_eq!(app.get(&content).await.status, 200);
    assert_eq!(delete(&admin, crate::kit::REGISTRY).await, 204);
    for path in
        [resolve, &content, "/github.com/acme/templates", "/api/v1/registries/github.com/acme/templates"]
    {
        assert_eq!(app.get(path).await.status, 404, "{path}");
    }
    assert_eq!(app.get("/api/v1/search?q=redis").await.json()["total"], 0);
}
