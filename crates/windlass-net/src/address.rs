//! Which addresses are on the public internet.
//!
//! Pure. Follows the IANA special-purpose registries; what is not known to be public is not.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How an address may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressClass {
    /// On the public internet.
    Public,
    /// This machine or a network of its owner; callable when a setting allows it.
    Private,
    /// Never a sensible target: cloud metadata, link-local, multicast, reserved, or an
    /// IPv4 address hidden in an IPv6 one.
    Forbidden,
}

/// Whether an address is on the public internet.
pub fn address_is_public(address: IpAddr) -> bool {
    classify(address) == AddressClass::Public
}

/// How an address may be called.
pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

/// Answers questions about the machine to anyone; some have ordinary-looking addresses.
const METADATA_V4: [Ipv4Addr; 3] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
];

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    use AddressClass::{Forbidden, Private, Public};
    if METADATA_V4.contains(&address) {
        return Forbidden;
    }
    match address.octets() {
        // "This network", link-local, protocol assignments, documentation, 6to4 relays,
        // multicast, reserved and broadcast.
        [0, ..]
        | [169, 254, ..]
        | [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [224..=255, ..] => Forbidden,
        // Private use, shared address space (CGNAT), loopback, benchmarking.
        [10 | 127, ..]
        | [100, 64..=127, ..]
        | [172, 16..=31, ..]
        | [192, 168, ..]
        | [198, 18..=19, ..] => Private,
        _ => Public,
    }
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    use AddressClass::{Forbidden, Private, Public};
    if address.is_loopback() {
        return Private;
    }
    match address.segments() {
        // Amazon's metadata service, within the private range.
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254] => Forbidden,
        [0xfc00..=0xfdff, ..] => Private,
        // Protocol assignments with Teredo and ORCHID, documentation (twice), 6to4.
        [0x2001, 0..=0x01ff, ..]
        | [0x2001, 0x0db8, ..]
        | [0x3fff, 0..=0x0fff, ..]
        | [0x2002, ..] => Forbidden,
        // Global unicast.
        [0x2000..=0x3fff, ..] => Public,
        // Mapped, compatible and translated (NAT64) IPv4, link-local, site-local, multicast,
        // unassigned.
        _ => Forbidden,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table() {
        use AddressClass::{Forbidden, Private, Public};
        let table: &[(AddressClass, &[&str])] = &[
            (
                Public,
                &[
                    "1.1.1.1",
                    "8.8.8.8",
                    "9.255.255.255",
                    "11.0.0.0",
                    "100.63.255.255",
                    "100.128.0.0",
                    "126.255.255.255",
                    "128.0.0.0",
                    "169.253.255.255",
                    "169.255.0.0",
                    "172.15.255.255",
                    "172.32.0.0",
                    "192.0.1.0",
                    "192.0.3.0",
                    "192.167.255.255",
                    "192.169.0.0",
                    "198.17.255.255",
                    "198.20.0.0",
                    "198.51.99.255",
                    "203.0.112.255",
                    "203.0.114.0",
                    "223.255.255.255",
                    "2001:200::1",
                    "2001:4860:4860::8888",
                    "2606:4700::1111",
                    "2a00::1",
                    "2003::1",
                    "3fff:1000::",
                ],
            ),
            (
                Private,
                &[
                    "10.0.0.0",
                    "10.255.255.255",
                    "127.0.0.1",
                    "127.255.255.255",
                    "100.64.0.0",
                    "100.127.255.255",
                    "172.16.0.0",
                    "172.31.255.255",
                    "192.168.0.0",
                    "192.168.255.255",
                    "198.18.0.0",
                    "198.19.255.255",
                    "::1",
                    "fc00::",
                    "fd00::1",
                    "fdff:ffff::1",
                ],
            ),
            (
                Forbidden,
                &[
                    "0.0.0.0",
                    "0.1.2.3",
                    "169.254.0.1",
                    "169.254.169.254",
                    "169.254.170.2",
                    "100.100.100.200",
                    "168.63.129.16",
                    "192.0.0.192",
                    "192.0.2.1",
                    "192.88.99.1",
                    "198.51.100.7",
                    "203.0.113.7",
                    "224.0.0.1",
                    "239.255.255.255",
                    "240.0.0.1",
                    "255.255.255.255",
                    "::",
                    "::ffff:8.8.8.8",
                    "::ffff:127.0.0.1",
                    "::ffff:169.254.169.254",
                    "::8.8.8.8",
                    "::127.0.0.1",
                    "::2",
                    "64:ff9b::808:808",
                    "64:ff9b::7f00:1",
                    "64:ff9b::a9fe:a9fe",
                    "64:ff9b:1::1",
                    "100::1",
                    "2001::1",
                    "2001:db8::1",
                    "2001:10::1",
                    "2001:1ff::1",
                    "2002:7f00:1::",
                    "2002:808:808::1",
                    "3fff::1",
                    "fd00:ec2::254",
                    "fe80::1",
                    "febf::1",
                    "fec0::1",
                    "ff02::1",
                    "5f00::1",
                    "4000::1",
                    "ffff::1",
                ],
            ),
        ];
        for (expected, addresses) in table {
            for text in *addresses {
                assert_eq!(classify(text.parse().unwrap()), *expected, "{text}");
            }
        }
    }

    proptest! {
        /// Cross-check with the standard library's own ideas.
        #[test]
        fn nothing_the_standard_library_calls_special_is_public(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let special = address.is_private() || address.is_loopback() || address.is_link_local() || address.is_multicast()
                || address.is_broadcast() || address.is_documentation() || address.is_unspecified();
            prop_assert!(!(special && address_is_public(IpAddr::V4(address))), "{}", address);
            // However it is dressed up, a special address stays unreachable.
            if special {
                let [a, b, c, d] = address.octets();
                let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
                for dressed in [
                    address.to_ipv6_mapped(), address.to_ipv6_compatible(),
                    Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1), Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                ] {
                    prop_assert!(!address_is_public(IpAddr::V6(dressed)), "{}", dressed);
                }
            }
        }
    }
}
