//! Which IP addresses are public: those that are globally reachable according to IANA's registries of special addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 networks that are not public: the address and the length of its prefix.
const SPECIAL_V4: [([u8; 4], u32); 16] = [
    ([0, 0, 0, 0], 8),        // this network; 0.0.0.0 is this machine
    ([10, 0, 0, 0], 8),       // private
    ([100, 64, 0, 0], 10),    // shared by a provider (CGNAT)
    ([127, 0, 0, 0], 8),      // this machine
    ([169, 254, 0, 0], 16),   // link-local; the metadata service of clouds
    ([168, 63, 129, 16], 32), // the metadata service of Azure, in a public network
    ([172, 16, 0, 0], 12),    // private
    ([192, 0, 0, 0], 24),     // protocols
    ([192, 0, 2, 0], 24),     // documentation
    ([192, 88, 99, 0], 24),   // 6to4 relays
    ([192, 168, 0, 0], 16),   // private
    ([198, 18, 0, 0], 15),    // benchmarks
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4), // multicast
    ([240, 0, 0, 0], 4), // reserved; broadcast
];

/// IPv6 networks within the public `2000::/3` that are not public, or that tunnel to IPv4.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocols: Teredo and others
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// The IPv6 prefix that translates to IPv4 (NAT64): the last 32 bits are the IPv4 address.
const NAT64: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);

/// Whether an address is public.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let within = |(network, bits): ([u8; 4], u32)| {
        (u32::from(address) ^ u32::from(Ipv4Addr::from(network))) >> (u32::BITS - bits) == 0
    };
    !SPECIAL_V4.into_iter().any(within)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let within = |network: Ipv6Addr, bits: u32| (u128::from(address) ^ u128::from(network)) >> (u128::BITS - bits) == 0;
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    if within(NAT64, 96) {
        let [.., a, b, c, d] = address.octets();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    within(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3)
        && !SPECIAL_V6.into_iter().any(|(network, bits)| within(network, bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses in special networks.
    #[rustfmt::skip]
    const SPECIAL: [&str; 51] = [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
        "127.255.0.1", "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.170",
        "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
        "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255", "::", "::1", "::2", "::ffff:10.0.0.1",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0", "::127.0.0.1", "::ffff:0:127.0.0.1",
        "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::127.0.0.1", "64:ff9b:1::8.8.8.8", "100::1",
        "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "2001::1", "2001:0:7f00:1::", "2001:db8::1",
        "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "4000::1", "5f00::1",
    ];

    /// Addresses beside special networks.
    #[rustfmt::skip]
    const PUBLIC: [&str; 23] = [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.1.1.1",
        "128.0.0.1", "168.63.129.17", "169.253.1.1", "172.15.0.1", "172.32.0.1", "192.167.1.1", "192.169.1.1",
        "198.17.1.1", "198.20.0.1", "223.1.1.1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2606:4700:4700::1111",
        "2a00:1450::1", "2001:4860:4860::8888", "2003::1",
    ];

    #[test]
    fn only_global_addresses_are_public() {
        for (texts, expected) in [(&SPECIAL[..], false), (&PUBLIC[..], true)] {
            for text in texts {
                assert_eq!(is_public(text.parse().expect("an address")), expected, "{text}");
            }
        }
    }
}
