//! Which network addresses may be connected to for a source: any for the operator's own, public ones for those that
//! somebody registers over the API.
//!
//! Without this, who may register could make the server ask its own network: metadata services, databases, other
//! people's consoles (server-side request forgery). Source: the IANA special-purpose address registries of IPv4 and
//! IPv6, as of RFC 6890 and later additions. What is not known to be public is not public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use serde::{Deserialize, Serialize};

/// Which addresses may be connected to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Addresses {
    /// Every one.
    #[default]
    Any,
    /// Only those that are reached the same from everywhere.
    Public,
}

/// An address that may not be connected to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{address} is {what}; registries added over the API may only be at public addresses (the operator can start the server with --allow-private-addresses)"
)]
pub struct Forbidden {
    address: IpAddr,
    what: &'static str,
}

/// Why a host has no address to connect to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LookupError {
    /// The resolver gave none.
    #[error("the host {host} was not found: {error}")]
    NotFound { host: String, error: String },
    /// One that may not be connected to.
    #[error("the host {host} may not be connected to: {forbidden}")]
    Forbidden { host: String, forbidden: Forbidden },
}

impl Addresses {
    /// Whether this address may be connected to.
    ///
    /// # Errors
    /// With what kind of address it is, if not.
    pub fn check(self, address: IpAddr) -> Result<(), Forbidden> {
        match (self, special(address)) {
            (Addresses::Any, _) | (Addresses::Public, None) => Ok(()),
            (Addresses::Public, Some(what)) => Err(Forbidden { address, what }),
        }
    }

    /// Looks a host up and checks every address it has. The caller connects to these and to no others, so that a
    /// name that means something else a moment later (DNS rebinding) gains nothing.
    pub(crate) fn look_up(self, host: &str, port: u16) -> Result<Vec<SocketAddr>, LookupError> {
        let not_found = |error: String| LookupError::NotFound { host: host.to_owned(), error };
        let found = (host, port).to_socket_addrs().map_err(|error| not_found(error.to_string()))?;
        let found = found.collect::<Vec<_>>();
        for address in &found {
            self.check(address.ip())
                .map_err(|forbidden| LookupError::Forbidden { host: host.to_owned(), forbidden })?;
        }
        if found.is_empty() { Err(not_found("it has no address".to_owned())) } else { Ok(found) }
    }
}

/// Looks names up for a client, so that what is checked is what is connected to.
pub(crate) struct CheckedResolver {
    addresses: Addresses,
}

impl CheckedResolver {
    pub(crate) fn new(addresses: Addresses) -> CheckedResolver {
        CheckedResolver { addresses }
    }
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let addresses = self.addresses;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            // The client sets the port of the URL.
            let found = tokio::task::spawn_blocking(move || addresses.look_up(&host, 0)).await??;
            let found: Box<dyn Iterator<Item = SocketAddr> + Send> = Box::new(found.into_iter());
            Ok(found as Addrs)
        })
    }
}

/// The address that a URL's host is, if it is no name.
pub(crate) fn literal_address_of(url: &reqwest::Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// What kind of special address this is; nothing for a public one.
fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    match address.octets() {
        [0, ..] => Some("an address of this machine"),
        [127, ..] => Some("a loopback address"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some("a private address"),
        [100, 64..=127, ..] => Some("an address behind a provider's translation"),
        [169, 254, ..] => Some("a link-local address"),
        // Azure's metadata and wire server, the one such service at an address that looks public.
        [168, 63, 129, 16] => Some("a metadata service"),
        [192, 0, 0, _] | [192, 31, 196, _] | [192, 52, 193, _] | [192, 88, 99, _] | [192, 175, 48, _] => {
            Some("an address for protocols")
        }
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Some("an address for documentation"),
        [198, 18..=19, ..] => Some("an address for benchmarks"),
        [224..=239, ..] => Some("a multicast address"),
        [240..=255, ..] => Some("a reserved address"),
        _ => None,
    }
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let embedded = |high: u16, low: u16| special_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match address.segments() {
        // IPv4 in other clothes is judged as what it is connected to.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => Some(embedded(high, low).unwrap_or("a 6to4 address")),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("a loopback address"),
        [0x2001, 0..=0x1ff, ..] => Some("an address for protocols"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some("an address for documentation"),
        // Only these are given out to be reached from everywhere.
        [0x2000..=0x3fff, ..] => None,
        [0xfc00..=0xfdff, ..] => Some("a private address"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        _ => Some("a reserved address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack row 15: every address that means something only here is refused, whatever it is dressed up as.
    #[test]
    fn what_is_not_public_is_refused() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:10::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:808:808::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            let address = text.parse().unwrap();
            assert!(Addresses::Public.check(address).is_err(), "{text}");
            assert_eq!(Addresses::Any.check(address), Ok(()), "{text}");
        }
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.0",
            "140.82.121.4",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:50c0:8000::153",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2001:4860:4860::8888",
        ] {
            assert_eq!(Addresses::Public.check(text.parse().unwrap()), Ok(()), "{text}");
        }
    }

    #[test]
    fn names_are_checked_by_what_they_resolve_to() {
        let found = Addresses::Any.look_up("localhost", 80).unwrap();
        assert!(found.iter().all(|address| address.ip().is_loopback() && address.port() == 80), "{found:?}");
        let error = Addresses::Public.look_up("localhost", 80).unwrap_err().to_string();
        assert!(error.contains("loopback address"), "{error}");
        // The C library's own reading of numbers ends at the same check.
        assert!(Addresses::Public.look_up("2130706433", 80).is_err());
    }
}
