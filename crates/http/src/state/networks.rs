//! The networks of guests and new accounts: which of them share limits.

use std::{fmt, net::IpAddr};

use mancala_db::players::{Network, sign_in_networks::SignInNetwork};
use mancala_domain::PlayerId;
use sha2::{Digest, Sha256};

use crate::address::site;

/// Hashes the networks from which players are made, with a key that all servers with the same signing key share. So the database alone does
/// not reveal an address.
#[derive(Clone, Copy)]
pub struct Networks {
    /// `None` where networks are not counted.
    key: Option<[u8; 32]>,
}

impl Networks {
    /// Hashes with this key; without one no player has a network.
    pub const fn new(key: Option<[u8; 32]>) -> Self {
        Self { key }
    }

    /// Whether networks are counted.
    pub const fn is_counted(self) -> bool {
        self.key.is_some()
    }

    /// The network of an address: its [`site`].
    pub fn of(self, address: IpAddr) -> Option<Network> {
        let hash = Sha256::new().chain_update(self.key?).chain_update(octets(address)).finalize();
        let (hash, _) = hash.split_first_chunk::<8>()?;
        Some(Network::of_hash(*hash))
    }

    /// The network of a player's sign-in: two players have different hashes of one network.
    pub fn of_sign_in(self, player: PlayerId, address: IpAddr) -> Option<SignInNetwork> {
        let hash = Sha256::new().chain_update(self.key?).chain_update("sign-in").chain_update(player.0);
        let hash = hash.chain_update(octets(address)).finalize();
        let (hash, _) = hash.split_first_chunk::<16>()?;
        Some(SignInNetwork::of_hash(*hash))
    }
}

fn octets(address: IpAddr) -> [u8; 16] {
    match site(address) {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// Omits the key.
impl fmt::Debug for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Networks").field("is_counted", &self.is_counted()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_an_ipv4_address_or_48_bits_of_ipv6_under_a_key() {
        let networks = Networks::new(Some([7; 32]));
        let of = |text: &str| networks.of(text.parse().expect("an address")).expect("networks are counted");
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert_eq!(of("2001:db8:1:2::3"), of("2001:db8:1:ffff::1"));
        assert_ne!(of("2001:db8:1::1"), of("2001:db8:2::1"));
        let address = "192.0.2.1".parse().expect("an address");
        assert_ne!(Networks::new(Some([8; 32])).of(address), Some(of("192.0.2.1")));
        assert_eq!(Networks::new(None).of(address), None);
    }
}
