//! A GitHub of one organisation, on the loopback interface: checks what it is shown and has GitHub's limits.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::TokioIo;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What the next requests get in place of an answer, first come first served.
pub(crate) enum Trouble {
    Status(u16),
    Garbage,
    /// The primary limit: over in so many seconds.
    Primary(i64),
    /// The secondary limit: over in so many seconds.
    Secondary(i64),
    /// The tokens given so far are no longer good.
    Revoke,
}

#[derive(Default)]
pub(crate) struct World {
    pub(crate) repositories: Vec<Value>,
    /// Those with a registry.yaml, by full name.
    pub(crate) registry_files: Vec<String>,
    pub(crate) troubles: Vec<(usize, Trouble)>,
    /// Every request: method, path and query, and the status it got.
    pub(crate) log: Vec<(String, u16)>,
    /// What a token must be; any if none is said.
    pub(crate) token: Option<String>,
    /// The public key of the app, as DER, if tokens come from there.
    pub(crate) app: Option<Vec<u8>>,
    /// How long a token of the app is good, in seconds.
    pub(crate) life: i64,
    /// A user's repositories, not an organisation's.
    pub(crate) is_user: bool,
    pub(crate) given: usize,
    pub(crate) limited_until: f64,
    /// Requests that came before a limit was over.
    pub(crate) hammered: usize,
    pub(crate) per_page: usize,
}

pub(crate) struct Fake {
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) address: String,
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

impl Fake {
    pub(crate) async fn start(world: World) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let world = Arc::new(Mutex::new(world));
        let (shared, base) = (world.clone(), address.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (shared, base) = (shared.clone(), base.clone());
                let service = hyper::service::service_fn(move |request: Request<Incoming>| {
                    let answer = shared.lock().unwrap().answer(&base, &request);
                    async move { Ok::<_, Infallible>(answer) }
                });
                tokio::spawn(async move {
                    let http = hyper::server::conn::http1::Builder::new();
                    let _ = http.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Fake { world, address }
    }

    /// The paths asked for, with the status each got.
    pub(crate) fn log(&self) -> Vec<(String, u16)> {
        self.world.lock().unwrap().log.clone()
    }
}

/// A repository, as a listing has it.
pub(crate) fn repository(full_name: &str, topics: &[&str]) -> Value {
    json!({
        "id": 1, "full_name": full_name, "private": false, "fork": false, "archived": false, "disabled": false,
        "clone_url": format!("http://127.0.0.1/{full_name}.git"), "default_branch": "main",
        "description": format!("About {full_name}"), "stargazers_count": 3, "topics": topics,
        "pushed_at": "2026-01-01T00:00:00Z",
    })
}

type Answer = Response<Full<Bytes>>;

fn say(status: u16, body: impl Into<Bytes>) -> Answer {
    Response::builder().status(status).body(Full::new(body.into())).unwrap()
}

fn message(status: u16, text: &str) -> Answer {
    say(status, json!({ "message": text }).to_string())
}

impl World {
    fn answer(&mut self, base: &str, request: &Request<Incoming>) -> Answer {
        let path = request.uri().path_and_query().unwrap().to_string();
        let answer = self.try_answer(base, request, &path);
        self.log.push((format!("{} {path}", request.method()), answer.status().as_u16()));
        answer
    }

    fn try_answer(&mut self, base: &str, request: &Request<Incoming>, path: &str) -> Answer {
        if now() < self.limited_until {
            self.hammered += 1;
            return message(403, "You are banned");
        }
        let header = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert!(header("user-agent").is_some(), "GitHub refuses requests without a user agent");
        let count = self.log.len();
        if let Some(at) = self.troubles.iter().position(|(at, _)| *at == count) {
            match self.troubles.remove(at).1 {
                Trouble::Status(status) => return message(status, "Oops"),
                Trouble::Garbage => return say(200, "<html>Unicorn!</html>"),
                Trouble::Primary(seconds) => {
                    self.limited_until = now().floor() + seconds as f64;
                    let mut answer = message(403, "API rate limit exceeded for installation");
                    let reset = self.limited_until as i64;
                    answer.headers_mut().insert("x-ratelimit-remaining", 0.into());
                    answer.headers_mut().insert("x-ratelimit-reset", reset.into());
                    return answer;
                }
                Trouble::Secondary(seconds) => {
                    self.limited_until = now() + seconds as f64;
                    let mut answer = message(429, "You have exceeded a secondary rate limit");
                    answer.headers_mut().insert("retry-after", seconds.into());
                    return answer;
                }
                Trouble::Revoke => self.token = Some("nobody has it".to_owned()),
            }
        }
        let bearer =
            header("authorization").and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned));
        if path == "/app/installations/42/access_tokens" {
            return match self.check_jwt(bearer.as_deref().unwrap_or_default()) {
                Ok(()) if request.method() == "POST" => {
                    self.given += 1;
                    let token = format!("ghs_{}", self.given);
                    self.token = Some(token.clone());
                    let until = jiff::Timestamp::from_second(now() as i64 + self.life).unwrap().to_string();
                    say(201, json!({ "token": token, "expires_at": until, "permissions": {} }).to_string())
                }
                Ok(()) => message(404, "Not Found"),
                Err(why) => message(401, why),
            };
        }
        if self.token.is_some() && bearer != self.token {
            return message(401, "Bad credentials");
        }
        let (bare, query) = path.split_once('?').unwrap_or((path, ""));
        match bare {
            "/installation/repositories" if self.app.is_some() => {
                self.page(base, bare, query, header("if-none-match"), true)
            }
            "/orgs/acme/repos" if !self.is_user => {
                self.page(base, bare, query, header("if-none-match"), false)
            }
            "/users/acme/repos" if self.is_user => {
                self.page(base, bare, query, header("if-none-match"), false)
            }
            _ => {
                let file = bare
                    .strip_prefix("/repos/")
                    .and_then(|rest| rest.strip_suffix("/contents/registry.yaml"));
                match file {
                    Some(name) if self.registry_files.iter().any(|has| has == name) => {
                        say(200, json!({ "type": "file", "path": "registry.yaml" }).to_string())
                    }
                    _ => message(404, "Not Found"),
                }
            }
        }
    }

    fn page(&self, base: &str, path: &str, query: &str, tag: Option<String>, wrapped: bool) -> Answer {
        let number = |name: &str| {
            query
                .split('&')
                .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse::<usize>().ok())
        };
        assert_eq!(number("per_page"), Some(100), "the largest pages are asked for");
        let (page, size) = (number("page").unwrap_or(1), self.per_page);
        let shown = self.repositories.chunks(size).nth(page - 1).unwrap_or_default();
        let body = match wrapped {
            true => json!({ "total_count": self.repositories.len(), "repositories": shown }).to_string(),
            false => json!(shown).to_string(),
        };
        let own = format!("\"{:x}-{}\"", body.len(), body.bytes().map(u64::from).sum::<u64>());
        if tag.as_deref() == Some(&own) {
            return say(304, "");
        }
        let mut answer = say(200, body);
        answer.headers_mut().insert("etag", own.parse().unwrap());
        if page * size < self.repositories.len() {
            let link = format!(
                "<{base}{path}?per_page=100&page={}>; rel=\"next\", <{base}{path}?per_page=100&page=9>; rel=\"last\"",
                page + 1
            );
            answer.headers_mut().insert("link", link.parse().unwrap());
        }
        answer
    }

    /// As GitHub checks it: signed by the app's key with RS256, made in the past, over in ten minutes at most.
    fn check_jwt(&self, jwt: &str) -> Result<(), &'static str> {
        let key = self.app.as_ref().ok_or("there is no app")?;
        let (signed, signature) = jwt.rsplit_once('.').ok_or("A JSON web token could not be decoded")?;
        let (header, claims) = signed.split_once('.').ok_or("A JSON web token could not be decoded")?;
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| "not base64url");
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key)
            .verify(signed.as_bytes(), &decode(signature)?)
            .map_err(|_| "the signature is wrong")?;
        let header = serde_json::from_slice::<Value>(&decode(header)?).map_err(|_| "no JSON")?;
        let claims = serde_json::from_slice::<Value>(&decode(claims)?).map_err(|_| "no JSON")?;
        let (made, over) = (claims["iat"].as_i64().ok_or("no iat")?, claims["exp"].as_i64().ok_or("no exp")?);
        let now = now() as i64;
        match () {
            () if header["alg"] != "RS256" => Err("another algorithm"),
            () if claims["iss"] != "Iv1.0123456789abcdef" => Err("another issuer"),
            () if made > now => Err("'Issued at' claim ('iat') must be in the past"),
            () if over <= now || over > now + 600 => {
                Err("'Expiration time' claim ('exp') is too far in the future")
            }
            () => Ok(()),
        }
    }
}
