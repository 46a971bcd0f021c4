//! The limits of sign-ins by account, so that a password cannot be guessed from many addresses.
//!
//! Failed attempts on an account share a bucket, from whichever networks they come, and whether or not the account exists. A network from
//! which the account was recently signed in to has a bucket of its own instead (`request::known`). So guesses slow down neither the owner's
//! usual networks nor devices with a refresh token, and elsewhere the owner waits for seconds, with 429.
//!
//! Each process counts for itself, in memory, by keyed hashes, which do not show which network belongs to which account.

use std::{
    fmt,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use mancala_db::DbError;
use mancala_domain::PlayerName;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};

use crate::{
    address::site,
    answer::{code::Code, problem::Problem},
};

/// How many attempts may fail at once, and how long until one more may.
#[derive(Clone, Copy, Debug)]
struct Policy {
    at_once: u32,
    each: Duration,
}

/// For each account: twenty mistakes, and then 180 an hour. A password of eight characters withstands that for years.
const ACCOUNT: Policy = Policy { at_once: 20, each: Duration::from_secs(20) };

/// For an account and a network that has not signed in to it. With fewer guesses from each network, an attacker needs
/// more networks, and the owner can try again sooner.
const STRANGER: Policy = Policy { at_once: 5, each: Duration::from_mins(1) };

/// The limit for all accounts together from the first 48 bits of an IPv6 address, as for one IPv4 address. A provider may give one customer
/// all networks of 64 bits in them.
const SITE: Policy = Policy { at_once: 300, each: Duration::from_secs(2) };

/// The most buckets: some 10 MB. Each costs a client the hash of a password.
const ENTRIES_MAX: usize = 65_536;

/// The key of a bucket: a keyed hash.
type Key = [u8; 16];

/// The failed attempts of a process.
pub struct SignIns {
    key: [u8; 32],
    buckets: Cache<Key, Arc<Mutex<Bucket>>>,
}

/// A leaky bucket: when it will be empty.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    empty_at: Instant,
}

/// An attempt that has begun. The attempt counts as failed unless it succeeds or is taken back.
#[derive(Debug)]
pub struct Attempt {
    taken: Vec<(Arc<Mutex<Bucket>>, Policy)>,
}

/// The result of `compare` for an account's name and password. An attempt is counted before the comparison, so that concurrent attempts
/// count as well. A right password, or a failed comparison, is taken off the count.
pub async fn by_password<T>(
    limits: Option<&SignIns>,
    (name, network, is_known): (&PlayerName, IpAddr, bool),
    compare: impl Future<Output = Result<Option<T>, Problem>>,
) -> Result<Option<T>, Problem> {
    let attempt = limits.map(|limits| limits.begin(name, network, is_known, Instant::now())).transpose()?;
    let compared = compare.await;
    if let (Ok(Some(_)) | Err(_), Some(attempt)) = (&compared, attempt) {
        attempt.take_back();
    }
    compared
}

/// The result of `find` for a secret that names no player: a recovery code, or the token of a link. Wrong ones count by network.
pub async fn by_secret<T>(
    limits: Option<&SignIns>,
    network: IpAddr,
    find: impl Future<Output = Result<Option<T>, DbError>>,
) -> Result<Option<T>, Problem> {
    let attempt = limits.map(|limits| limits.begin_recovery(network, Instant::now())).transpose()?;
    let found = find.await;
    if let (Ok(Some(_)) | Err(_), Some(attempt)) = (&found, attempt) {
        attempt.take_back();
    }
    Ok(found?)
}

impl Default for SignIns {
    fn default() -> Self {
        Self { key: rand::random(), buckets: Cache::new(ENTRIES_MAX) }
    }
}

impl SignIns {
    /// Counts an attempt to sign in to an account from a network, which may be known, or refuses it with 429.
    pub fn begin(&self, name: &PlayerName, network: IpAddr, is_known: bool, now: Instant) -> Result<Attempt, Problem> {
        let known = self.known_key(name, network);
        let mut policies = if is_known {
            vec![(known, ACCOUNT)]
        } else {
            let account = self.hash("account", &[name.key().as_bytes()]);
            vec![(self.hash("stranger", &[&known]), STRANGER), (account, ACCOUNT)]
        };
        if let IpAddr::V6(site) = site(network) {
            policies.push((self.hash("site", &[&site.octets()]), SITE));
        }
        self.take(policies, now)
    }

    /// Takes one attempt from every bucket, or from no bucket.
    fn take(&self, policies: Vec<(Key, Policy)>, now: Instant) -> Result<Attempt, Problem> {
        let mut attempt = Attempt { taken: vec![] };
        for (key, policy) in policies {
            let bucket = self.buckets.get(&key).unwrap_or_else(|| {
                let bucket = Arc::new(Mutex::new(Bucket { empty_at: now }));
                self.buckets.insert(key, bucket.clone());
                bucket
            });
            match policy.take(&bucket, now) {
                Ok(()) => attempt.taken.push((bucket, policy)),
                Err(wait) => {
                    attempt.take_back();
                    let seconds = wait.as_secs() + 1;
                    let detail = format!("too many sign-ins failed; the next one may come in {seconds} s");
                    return Err(Problem::new(Code::RateLimited, detail).retry_after(seconds));
                }
            }
        }
        Ok(attempt)
    }

    /// Counts an attempt to recover a player from a network, or refuses it with 429.
    pub fn begin_recovery(&self, network: IpAddr, now: Instant) -> Result<Attempt, Problem> {
        let address = match network {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        let mut policies = vec![(self.hash("recovery", &[&address.octets()]), ACCOUNT)];
        if let IpAddr::V6(site) = site(network) {
            policies.push((self.hash("site", &[&site.octets()]), SITE));
        }
        self.take(policies, now)
    }

    fn known_key(&self, name: &PlayerName, network: IpAddr) -> Key {
        let address = match network {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        self.hash("known", &[&address.octets(), name.key().as_bytes()])
    }

    fn hash(&self, kind: &str, parts: &[&[u8]]) -> Key {
        let mut hash = Sha256::new().chain_update(self.key).chain_update(kind).chain_update([0]);
        for part in parts {
            hash.update(part);
        }
        let hash: [u8; 32] = hash.finalize().into();
        *hash.first_chunk().expect("32 bytes begin with 16")
    }
}

impl Attempt {
    /// The attempt was not made: it does not count.
    pub fn take_back(self) {
        for (bucket, policy) in self.taken {
            bucket.lock().unwrap_or_else(PoisonError::into_inner).empty_at -= policy.each;
        }
    }
}

impl Policy {
    /// Takes one attempt from a bucket, or returns the time until one is available.
    fn take(self, bucket: &Mutex<Bucket>, now: Instant) -> Result<(), Duration> {
        let mut bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let empty_at = bucket.empty_at.max(now) + self.each;
        let level = empty_at - now;
        let max = self.each * self.at_once;
        match level.checked_sub(max) {
            Some(wait) if !wait.is_zero() => Err(wait),
            _ => {
                bucket.empty_at = empty_at;
                Ok(())
            }
        }
    }
}

/// Leaves out the key.
impl fmt::Debug for SignIns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIns").field("buckets", &self.buckets.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    fn name(text: &str) -> PlayerName {
        text.parse().expect("a name")
    }

    fn address(n: u32) -> IpAddr {
        IpAddr::V4((0x0a00_0000 + n).into())
    }

    /// How many of a hundred attempts from as many addresses are let through, all of which fail.
    fn failures(sign_ins: &SignIns, account: &str, first: u32, now: Instant) -> usize {
        (first..first + 100).filter(|n| sign_ins.begin(&name(account), address(*n), false, now).is_ok()).count()
    }

    #[test]
    fn guesses_from_many_addresses_are_slow_and_the_owners_networks_are_not() {
        let (sign_ins, now) = (SignIns::default(), Instant::now());
        let ana = name("Ana");
        assert_eq!(failures(&sign_ins, "ANA", 1000, now), 20, "the case of a name makes no difference");
        // The owner elsewhere waits for seconds.
        let refused = sign_ins.begin(&ana, address(3), false, now).expect_err("too many have failed");
        assert_eq!(refused.code(), Code::RateLimited);
        for known in [1, 2] {
            for _ in 0..30 {
                sign_ins.begin(&ana, address(known), true, now).expect("it is known").take_back();
            }
        }
        // Guesses from there have a limit as well.
        assert_eq!((0..100).filter(|_| sign_ins.begin(&ana, address(2), true, now).is_ok()).count(), 20);
        assert!(sign_ins.begin(&ana, address(1), true, now).is_ok());
        assert!(sign_ins.begin(&ana, address(3), false, now + Duration::from_secs(20)).is_ok(), "never for long");
        assert_eq!(failures(&sign_ins, "Bo", 1000, now), 20, "other accounts are not affected");
        assert_eq!(failures(&sign_ins, "Ana", 5000, now + Duration::from_secs(400)), 19);
    }

    #[test]
    fn one_network_does_not_use_up_the_attempts_of_an_account() {
        let (sign_ins, now) = (SignIns::default(), Instant::now());
        let mut from_one = (0..100).filter(|_| sign_ins.begin(&name("Ana"), address(1), false, now).is_ok());
        assert_eq!(from_one.by_ref().count(), 5);
        assert_eq!(failures(&sign_ins, "Ana", 1000, now), 15);
        // An attempt that was not made does not count.
        let later = now + Duration::from_secs(20);
        for _ in 0..10 {
            sign_ins.begin(&name("Ana"), address(7), false, later).expect("there is one").take_back();
        }
    }

    #[test]
    fn the_networks_of_an_ipv6_site_count_together() {
        let (sign_ins, now) = (SignIns::default(), Instant::now());
        let begin = |site: u128, n: u32| {
            let address = Ipv6Addr::from_bits((0x2001_0db8_0000 + site) << 80 | u128::from(n) << 64);
            sign_ins.begin(&name(&format!("Account {n}")), address.into(), false, now).is_ok()
        };
        assert_eq!((0..1000).filter(|n| begin(1, *n)).count(), 300);
        assert!(begin(2, 2000));
    }
}
