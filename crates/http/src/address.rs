//! Which addresses count as one: a customer of a provider has many addresses of IPv6.

use std::net::{IpAddr, Ipv6Addr};

/// The network that counts as one address: for IPv6 the first 64 bits, because each customer gets a whole /64.
pub fn network(address: IpAddr) -> IpAddr {
    first_bits(address, 64)
}

/// The network site that shares one limit. For IPv6 it is the first 48 bits, because one customer may have all addresses in them.
pub fn site(address: IpAddr) -> IpAddr {
    first_bits(address, 48)
}

/// The first bits of an IPv6 address. An IPv4 address is returned whole, even if it is written as IPv6.
fn first_bits(address: IpAddr, bits: u32) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !(u128::MAX >> bits)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn an_ipv6_address_counts_by_its_first_64_bits_and_a_site_by_48() {
        let (one, other) = (address("2001:db8:1:2:3:4:5:6"), address("2001:db8:1:3::1"));
        assert_eq!(network(one), address("2001:db8:1:2::"));
        assert_ne!(network(one), network(other));
        assert_eq!((site(one), site(other)), (address("2001:db8:1::"), address("2001:db8:1::")));
        assert_ne!(site(one), site(address("2001:db8:2::1")));
    }

    #[test]
    fn an_ipv4_address_counts_as_it_is() {
        for count in [network, site] {
            assert_eq!(count(address("192.0.2.1")), address("192.0.2.1"));
            assert_eq!(count(address("::ffff:192.0.2.1")), address("192.0.2.1"));
        }
    }
}
