//! How fast one sender may come: a bucket of deliveries for each address, filled at a steady rate.
//!
//! Counted before anything of a request is read, so that a flood costs a look-up each. Behind a reverse proxy all
//! senders have its address and share one bucket.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Deliveries at once, after a rest.
pub(super) const BURST: f64 = 60.0;

/// Deliveries a second, from then on.
pub(super) const RATE: f64 = 10.0;

/// Senders that are told apart; further ones share a bucket until some have rested.
const SENDERS: usize = 4_096;

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    /// Takes one out, or says how long it takes until there is one.
    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        self.left = self.level(now);
        self.at = now;
        if self.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - self.left) / RATE));
        }
        self.left -= 1.0;
        Ok(())
    }

    fn level(&self, now: Instant) -> f64 {
        (self.left + now.saturating_duration_since(self.at).as_secs_f64() * RATE).min(BURST)
    }
}

pub(super) struct Flood {
    senders: Mutex<HashMap<Option<IpAddr>, Bucket>>,
}

impl Flood {
    pub(super) fn new() -> Flood {
        Flood { senders: Mutex::default() }
    }

    /// Lets a delivery of a sender in, or says how long it should wait.
    pub(super) fn admit(&self, sender: Option<IpAddr>, now: Instant) -> Result<(), Duration> {
        let mut senders = self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sender = sender.map(network);
        if senders.len() >= SENDERS && !senders.contains_key(&sender) {
            senders.retain(|_, bucket| bucket.level(now) < BURST);
            if senders.len() >= SENDERS {
                sender = None;
            }
        }
        senders.entry(sender).or_insert(Bucket { left: BURST, at: now }).take(now)
    }
}

/// Who an address belongs to: of IPv6, a customer has a whole /64.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => address.into(),
            None => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
        },
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_held_to_the_rate_and_hurts_nobody_else() {
        let (flood, start) = (Flood::new(), Instant::now());
        let [one, other] = [1, 2].map(|last| Some(IpAddr::from([192, 0, 2, last])));
        let admitted = |sender, seconds: u64| {
            (0..10_000).filter(|_| flood.admit(sender, start + Duration::from_secs(seconds)).is_ok()).count()
        };
        assert_eq!(admitted(one, 0), 60);
        let wait = flood.admit(one, start).unwrap_err();
        assert!(wait <= Duration::from_millis(100), "{wait:?}");
        assert_eq!(flood.admit(other, start), Ok(()));
        assert_eq!(admitted(one, 1), 10);
    }

    #[test]
    fn senders_without_number_share_a_bucket_and_memory_stays() {
        let (flood, start) = (Flood::new(), Instant::now());
        let admitted =
            (0..20_000u32).filter(|at| flood.admit(Some(IpAddr::from(at.to_be_bytes())), start).is_ok());
        assert_eq!(admitted.count(), SENDERS + 60);
        assert_eq!(flood.senders.lock().unwrap().len(), SENDERS + 1);
        // They have rested, and make room.
        assert_eq!(flood.admit(Some([9, 9, 9, 9].into()), start + Duration::from_secs(60)), Ok(()));
        assert_eq!(flood.senders.lock().unwrap().len(), 1);
    }

    #[test]
    fn addresses_of_one_customer_are_one_sender() {
        let [one, other] = ["2001:db8::1", "2001:db8::2"].map(|text| network(text.parse().unwrap()));
        assert_eq!(one, other);
        assert_eq!(network("::ffff:192.0.2.1".parse().unwrap()), IpAddr::from([192, 0, 2, 1]));
    }
}
