//! X.509 certificates as sprig has Go make them.

use sha1::Digest;

use crate::context::{Context, Failure};
use crate::time::Time;
use crate::value::{Object, Value};

use super::super::{int, text};
use super::der;
use super::keys::{Key, new_rsa};

type Answer<'a> = Result<Value<'a>, Failure>;

/// What the functions return: certificate and key in PEM.
#[derive(Clone, Copy)]
struct Certificate<'a> {
    cert: &'a [u8],
    key: &'a [u8],
}

impl<'a> Object<'a> for Certificate<'a> {
    fn type_name(&self) -> &str {
        "sprig.certificate"
    }

    fn field(&self, name: &str, _: &mut Context<'_, 'a>) -> Option<Value<'a>> {
        match name {
            "Cert" => Some(Value::String(self.cert)),
            "Key" => Some(Value::String(self.key)),
            _ => None,
        }
    }

    fn text(&self) -> String {
        format!("{{{} {}}}", String::from_utf8_lossy(self.cert), String::from_utf8_lossy(self.key))
    }

    fn data(&self, context: &mut Context<'_, 'a>) -> Option<Value<'a>> {
        let map = context.arena.map();
        map.set(b"Cert", Value::String(self.cert));
        map.set(b"Key", Value::String(self.key));
        Some(Value::Map(map))
    }

    fn certificate(&self) -> Option<(&'a [u8], &'a [u8])> {
        Some((self.cert, self.key))
    }
}

fn name(common: &[u8]) -> Vec<u8> {
    if common.is_empty() {
        return der::sequence(&[]);
    }
    let printable = |byte: &u8| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(byte);
    let tag = if common.iter().all(printable) { 0x13 } else { 0x0C };
    let attribute = der::sequence(&[&der::oid(&[2, 5, 4, 3]), &der::element(tag, common)]);
    der::sequence(&[&der::element(der::SET, &attribute)])
}

fn moment(seconds: i64) -> Vec<u8> {
    let time = Time { seconds, nanos: 0, zone: crate::time::Zone::Utc };
    let year = time.format(b"2006");
    if (&b"1950"[..]..&b"2050"[..]).contains(&&year[..]) {
        return der::element(0x17, &time.format(b"060102150405Z"));
    }
    der::element(0x18, &time.format(b"20060102150405Z"))
}

fn extension(id: &[u32], critical: bool, content: &[u8]) -> Vec<u8> {
    let flag: &[u8] = if critical { &[1, 1, 0xff] } else { &[] };
    der::sequence(&[&der::oid(id), flag, &der::element(der::OCTET_STRING, content)])
}

/// Who signs: the name and key identifier in its certificate, and its key.
struct Signer<'k> {
    subject: Vec<u8>,
    identifier: Option<Vec<u8>>,
    key: &'k Key,
}

struct Request<'v, 'a> {
    common: &'a [u8],
    addresses: &'v [Value<'a>],
    names: &'v [Value<'a>],
    days: i64,
    authority: bool,
}

fn shown<'a>(value: Value<'a>, context: &Context<'_, 'a>) -> Result<String, Failure> {
    let mut out = Vec::new();
    crate::fmt::format_value(&mut out, value, 'v', context.text_limit())?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// The alternative names, as an extension's content.
fn alternatives<'a>(request: &Request<'_, 'a>, context: &Context<'_, 'a>) -> Result<Vec<u8>, Failure> {
    let mut addresses = Vec::new();
    for value in request.addresses {
        let Some(address) = value.as_str() else {
            let shown = shown(*value, context)?;
            return Err(Failure::message(format!("error parsing ip: {shown} is not a string")));
        };
        let parsed = std::str::from_utf8(address).ok().and_then(|text| text.parse::<std::net::IpAddr>().ok());
        addresses.extend(match parsed {
            Some(std::net::IpAddr::V4(address)) => der::element(0x87, &address.octets()),
            Some(std::net::IpAddr::V6(address)) => match address.to_ipv4_mapped() {
                Some(address) => der::element(0x87, &address.octets()),
                None => der::element(0x87, &address.octets()),
            },
            None => {
                let shown = String::from_utf8_lossy(address);
                return Err(Failure::message(format!("error parsing ip: {shown}")));
            }
        });
    }
    let mut out = Vec::new();
    for value in request.names {
        let Some(name) = value.as_str() else {
            let shown = shown(*value, context)?;
            let message = format!("error processing alternate dns name: {shown} is not a string");
            return Err(Failure::message(message));
        };
        if !name.is_ascii() {
            return Err(Failure::message(format!(
                "error creating certificate: x509: {} cannot be encoded as an IA5String",
                crate::strconv::quote(name)
            )));
        }
        out.extend(der::element(0x82, name));
    }
    out.extend(addresses);
    Ok(out)
}

fn issue<'a>(
    context: &mut Context<'_, 'a>,
    request: &Request<'_, 'a>,
    key: &Key,
    signer: Option<Signer<'_>>,
) -> Answer<'a> {
    let alternatives = alternatives(request, context)?;
    let mut serial = [0; 16];
    context.random(&mut serial);
    let (now, _) = context.now();
    let until = now.saturating_add(request.days.saturating_mul(86_400));
    let subject = name(request.common);
    let (public, bits) = key.public();
    let identifier = sha1::Sha1::digest(&bits).to_vec();
    // The usages are bits from the left: digital signature 0, key encipherment 2, certificate signing 5.
    let usage: &[u8] = if request.authority { &[0x03, 2, 2, 0xA4] } else { &[0x03, 2, 5, 0xA0] };
    let server = der::oid(&[1, 3, 6, 1, 5, 5, 7, 3, 1]);
    let client = der::oid(&[1, 3, 6, 1, 5, 5, 7, 3, 2]);
    let constraints = if request.authority { der::sequence(&[&[1, 1, 0xff]]) } else { der::sequence(&[]) };
    let mut extensions = vec![
        extension(&[2, 5, 29, 15], true, usage),
        extension(&[2, 5, 29, 37], false, &der::sequence(&[&server, &client])),
        extension(&[2, 5, 29, 19], true, &constraints),
    ];
    if request.authority {
        extensions.push(extension(&[2, 5, 29, 14], false, &der::element(der::OCTET_STRING, &identifier)));
    }
    if let Some(identifier) = signer.as_ref().and_then(|signer| signer.identifier.as_ref()) {
        extensions.push(extension(
            &[2, 5, 29, 35],
            false,
            &der::sequence(&[&der::element(0x80, identifier)]),
        ));
    }
    if !alternatives.is_empty() {
        let critical = request.common.is_empty();
        extensions.push(extension(&[2, 5, 29, 17], critical, &der::element(der::SEQUENCE, &alternatives)));
    }
    let (issuer, signing) = match &signer {
        Some(signer) => (signer.subject.clone(), signer.key),
        None => (subject.clone(), key),
    };
    let algorithm = signing.algorithm();
    let body = der::sequence(&[
        &der::element(0xA0, &der::integer(&[2])),
        &der::integer(&serial),
        &algorithm,
        &issuer,
        &der::sequence(&[&moment(now), &moment(until)]),
        &subject,
        &public,
        &der::element(0xA3, &der::element(der::SEQUENCE, &extensions.concat())),
    ]);
    let signature = signing.sign(&body);
    let certificate = der::sequence(&[&body, &algorithm, &der::bits(&signature)]);
    let cert = context.arena.bytes(der::pem("CERTIFICATE", &certificate).as_bytes());
    let key = context.arena.bytes(key.pem()?.as_bytes());
    Ok(context.arena.object(Certificate { cert, key }))
}

/// Subject and key identifier of a certificate in DER.
fn subject_of(certificate: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let (outer, _) = der::expect(certificate, der::SEQUENCE)?;
    let (body, _) = der::expect(outer, der::SEQUENCE)?;
    let mut rest = body;
    if rest.first() == Some(&0xA0) {
        rest = der::read(rest)?.3;
    }
    // Serial number, algorithm, issuer, validity.
    for _ in 0..4 {
        rest = der::read(rest)?.3;
    }
    let (_, _, subject, mut rest) = der::read(rest)?;
    rest = der::read(rest)?.3;
    let mut identifier = None;
    while let Some((tag, content, _, after)) = der::read(rest) {
        rest = after;
        if tag != 0xA3 {
            continue;
        }
        let (mut extensions, _) = der::expect(content, der::SEQUENCE)?;
        while let Some((_, extension, _, after)) = der::read(extensions) {
            extensions = after;
            let (_, _, id, value) = der::read(extension)?;
            if id == der::oid(&[2, 5, 29, 14]) {
                let (value, _) = der::expect(value, der::OCTET_STRING)?;
                identifier = der::expect(value, der::OCTET_STRING).map(|(identifier, _)| identifier.to_vec());
            }
        }
    }
    Some((subject.to_vec(), identifier))
}

fn list<'v, 'a>(arguments: &'v [Value<'a>], at: usize) -> &'v [Value<'a>] {
    match &arguments[at] {
        Value::List(_, items) => items,
        _ => &[],
    }
}

fn given_key(pem: &[u8]) -> Result<Key, Failure> {
    Key::from_pem(pem).map_err(|error| Failure::message(format!("parsing private key: {error}")))
}

fn authority<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>], key: &Key) -> Answer<'a> {
    let request = Request {
        common: text(arguments, 0),
        addresses: &[],
        names: &[],
        days: int(arguments, 1),
        authority: true,
    };
    issue(context, &request, key, None)
}

pub(super) fn gen_ca<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let key = new_rsa(context, 2048)?;
    authority(context, arguments, &key)
}

pub(super) fn gen_ca_with_key<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let key = given_key(text(arguments, 2))?;
    authority(context, arguments, &key)
}

fn leaf<'v, 'a>(arguments: &'v [Value<'a>]) -> Request<'v, 'a> {
    Request {
        common: text(arguments, 0),
        addresses: list(arguments, 1),
        names: list(arguments, 2),
        days: int(arguments, 3),
        authority: false,
    }
}

pub(super) fn gen_self_signed<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let key = new_rsa(context, 2048)?;
    issue(context, &leaf(arguments), &key, None)
}

pub(super) fn gen_self_signed_with_key<'a>(
    context: &mut Context<'_, 'a>,
    arguments: &[Value<'a>],
) -> Answer<'a> {
    let key = given_key(text(arguments, 4))?;
    issue(context, &leaf(arguments), &key, None)
}

fn signed<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>], key: &Key) -> Answer<'a> {
    let (cert, signing) = match &arguments[4] {
        Value::Object(object) => object.certificate().unwrap_or_default(),
        _ => (&[][..], &[][..]),
    };
    let Some((_, der)) = der::unpem(cert) else {
        return Err(Failure::message("unable to decode certificate"));
    };
    let Some((subject, identifier)) = subject_of(&der) else {
        let message = "error parsing certificate: decodedSignerCert.Bytes: x509: malformed certificate";
        return Err(Failure::message(message));
    };
    let signing = Key::from_pem(signing)
        .map_err(|error| Failure::message(format!("error parsing private key: {error}")))?;
    issue(context, &leaf(arguments), key, Some(Signer { subject, identifier, key: &signing }))
}

pub(super) fn gen_signed<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let key = new_rsa(context, 2048)?;
    signed(context, arguments, &key)
}

pub(super) fn gen_signed_with_key<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let key = given_key(text(arguments, 5))?;
    signed(context, arguments, &key)
}

pub(super) fn build_custom_cert<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let decode = |at: usize, what: &str| {
        STANDARD
            .decode(text(arguments, at))
            .map_err(|_| Failure::message(format!("unable to decode base64 {what}")))
    };
    let cert = decode(0, "certificate")?;
    let key = decode(1, "private key")?;
    let Some((_, der)) = der::unpem(&cert) else {
        return Err(Failure::message("unable to decode certificate"));
    };
    if subject_of(&der).is_none() {
        let message = "error parsing certificate: decodedCert.Bytes: x509: malformed certificate";
        return Err(Failure::message(message));
    }
    Key::from_pem(&key).map_err(|error| Failure::message(format!("error parsing private key: {error}")))?;
    context.charge(cert.len() + key.len())?;
    let (cert, key) = (context.arena.bytes(&cert), context.arena.bytes(&key));
    Ok(context.arena.object(Certificate { cert, key }))
}
