//! EC2: its names of members on the wire, and what its answers hold.
//!
//! Facts of AWS's public API. A line here is a permission: nothing that writes or shows a secret.

use windlass_ports::aws::ActionShape;
use windlass_ports::aws::services::EC2;

use super::{Allowed, plain};

pub(super) static ACTIONS: &[Allowed] = &[
    plain(
        ActionShape::new(&EC2, "DescribeVpcs")
            .with_list_names(&[
                ("Filters", "Filter"),
                ("Values", "Value"),
                ("VpcIds", "VpcId"),
            ])
            .with_scalars(&[], &["isDefault"]),
    ),
    plain(
        ActionShape::new(&EC2, "DescribeSubnets")
            .with_list_names(&[
                ("Filters", "Filter"),
                ("SubnetIds", "SubnetId"),
                ("Values", "Value"),
            ])
            .with_scalars(
                &["availableIpAddressCount", "enableLniAtDeviceIndex"],
                &[
                    "assignIpv6AddressOnCreation",
                    "defaultForAz",
                    "enableDns64",
                    "enableResourceNameDnsAAAARecord",
                    "enableResourceNameDnsARecord",
                    "ipv6Native",
                    "mapCustomerOwnedIpOnLaunch",
                    "mapPublicIpOnLaunch",
                ],
            ),
    ),
    plain(
        ActionShape::new(&EC2, "DescribeSecurityGroups")
            .with_list_names(&[
                ("Filters", "Filter"),
                ("GroupIds", "GroupId"),
                ("GroupNames", "GroupName"),
                ("Values", "Value"),
            ])
            .with_scalars(&["fromPort", "toPort"], &[]),
    ),
    plain(
        ActionShape::new(&EC2, "DescribeNetworkInterfaces")
            .with_list_names(&[
                ("Filters", "Filter"),
                ("NetworkInterfaceIds", "NetworkInterfaceId"),
                ("Values", "Value"),
            ])
            .with_scalars(
                &[
                    "deviceIndex",
                    "enaQueueCount",
                    "networkCardIndex",
                    "tcpEstablishedTimeout",
                    "udpStreamTimeout",
                    "udpTimeout",
                ],
                &[
                    "deleteOnTermination",
                    "denyAllIgwTraffic",
                    "enaSrdEnabled",
                    "enaSrdUdpEnabled",
                    "hiddenByDefault",
                    "ipv6Native",
                    "isPrimaryIpv6",
                    "managed",
                    "primary",
                    "requesterManaged",
                    "sourceDestCheck",
                ],
            ),
    ),
    plain(
        ActionShape::new(&EC2, "DescribeInstances")
            .with_list_names(&[
                ("Filters", "Filter"),
                ("InstanceIds", "InstanceId"),
                ("Values", "Value"),
            ])
            .with_scalars(
                &[
                    "amiLaunchIndex",
                    "coreCount",
                    "deviceIndex",
                    "ebsCardIndex",
                    "enaQueueCount",
                    "httpPutResponseHopLimit",
                    "networkCardIndex",
                    "partitionNumber",
                    "tcpEstablishedTimeout",
                    "threadsPerCore",
                    "udpStreamTimeout",
                    "udpTimeout",
                ],
                &[
                    "configured",
                    "deleteOnTermination",
                    "ebsOptimized",
                    "enaSrdEnabled",
                    "enaSrdUdpEnabled",
                    "enaSupport",
                    "enableResourceNameDnsAAAARecord",
                    "enableResourceNameDnsARecord",
                    "enabled",
                    "hiddenByDefault",
                    "isPrimaryIpv6",
                    "managed",
                    "primary",
                    "sourceDestCheck",
                ],
            ),
    ),
    plain(
        ActionShape::new(&EC2, "DescribeNatGateways")
            .with_list_names(&[("NatGatewayIds", "NatGatewayId"), ("Values", "Value")])
            .with_scalars(&[], &["isPrimary"]),
    ),
    plain(
        ActionShape::new(&EC2, "DescribeRouteTables")
            .with_list_names(&[
                ("Filters", "Filter"),
                ("RouteTableIds", "RouteTableId"),
                ("Values", "Value"),
            ])
            .with_scalars(&[], &["main"]),
    ),
];
