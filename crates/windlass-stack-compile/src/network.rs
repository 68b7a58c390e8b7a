//! The stack's network, made when the first part asks for it.
//!
//! Public subnets in two zones (three when NAT gateways are wanted in three), gateway endpoints
//! for S3 and DynamoDB, and private subnets behind NAT gateways only when something runs in them.

use serde_json::{Value, json};

use crate::cf::{attribute, reference, sub};
use crate::name::logical;
use crate::stack::Stack;

/// What parts need to know of the network.
#[derive(Clone, Debug)]
pub(crate) struct Net {
    pub vpc: Value,
    pub cidr: Value,
    pub public_subnets: Vec<Value>,
}

impl Stack<'_> {
    /// The network.
    pub fn network(&mut self) -> Net {
        if self.reuses_network() {
            return self.existing_network();
        }
        let vpc = logical(&["Stp", "VPC"]);
        if !self.parts.contains_key(&vpc) {
            self.make_network(&vpc);
        }
        Net {
            vpc: reference(&vpc),
            cidr: attribute(&vpc, "CidrBlock"),
            public_subnets: (0..self.zones())
                .map(|zone| reference(&subnet("Public", zone)))
                .collect(),
        }
    }

    /// Subnets without public addresses, behind NAT gateways.
    pub fn private_subnets(&mut self) -> Vec<Value> {
        let network = self.network();
        if self.reuses_network() {
            let subnets = self
                .facts
                .network
                .as_ref()
                .map(|network| network.private_subnets.clone())
                .unwrap_or_default();
            if subnets.is_empty() && self.facts.network.is_some() {
                self.refuse(
                    "usePrivateSubnetsWithNAT",
                    "the network that is used has no private subnets",
                    Some("use another network, or public subnets"),
                );
            }
            return subnets.into_iter().map(Value::String).collect();
        }
        let zones = self.zones();
        if !self.parts.contains_key(&subnet("Private", 0)) {
            self.make_private(&network, zones);
        }
        (0..zones)
            .map(|zone| reference(&subnet("Private", zone)))
            .collect()
    }

    /// The subnets a workload runs in, and whether it has a public address there.
    pub fn workload_subnets(&mut self, is_private: bool) -> (Vec<Value>, bool) {
        match is_private {
            true => (self.private_subnets(), false),
            false => (self.network().public_subnets, true),
        }
    }

    fn reuses_network(&self) -> bool {
        let vpc = self.config.stack_config.vpc.as_ref();
        vpc.is_some_and(|vpc| vpc.reuse_vpc.is_some())
    }

    fn existing_network(&mut self) -> Net {
        let Some(network) = self.facts.network.clone() else {
            let refusal = crate::refusal::Refusal {
                path: ["stackConfig", "vpc", "reuseVpc"].map(str::to_owned).into(),
                message: "the network was not found".to_owned(),
                suggestion: Some("check the id, or the other stack's project and stage".to_owned()),
            };
            if !self.refusals.contains(&refusal) {
                self.refusals.push(refusal);
            }
            return Net {
                vpc: json!(""),
                cidr: json!(""),
                public_subnets: Vec::new(),
            };
        };
        Net {
            vpc: json!(network.vpc_id),
            cidr: json!(network.cidr),
            public_subnets: network
                .public_subnets
                .into_iter()
                .map(Value::String)
                .collect(),
        }
    }

    fn nat_zones(&self) -> u32 {
        let vpc = self.config.stack_config.vpc.as_ref();
        vpc.and_then(|vpc| vpc.nat.as_ref())
            .map_or(2, |nat| nat.availability_zones.clamp(1, 3))
    }

    fn zones(&self) -> u32 {
        self.nat_zones().max(2)
    }

    fn make_network(&mut self, vpc: &str) {
        let name = self.facts.stack_name();
        self.share(vpc, "AWS::EC2::VPC", |_| {
            json!({
                "CidrBlock": "10.0.0.0/16",
                "EnableDnsHostnames": true,
                "EnableDnsSupport": true,
                "Tags": [{ "Key": "Name", "Value": name }],
            })
        });
        let gateway = logical(&["Stp", "InternetGateway"]);
        self.share(&gateway, "AWS::EC2::InternetGateway", |_| json!({}));
        let attachment = logical(&["Stp", "VPCGatewayAttachment"]);
        self.share(
            &attachment,
            "AWS::EC2::VPCGatewayAttachment",
            |_| json!({ "VpcId": reference(vpc), "InternetGatewayId": reference(&gateway) }),
        );
        for zone in 0..self.zones() {
            let range = format!("10.0.{}.0/19", zone * 32);
            self.make_subnet(vpc, "Public", zone, &range);
            let route = logical(&["Stp", "InternetGateway", &format!("Route{zone}")]);
            self.share(&route, "AWS::EC2::Route", |_| {
                json!({
                    "RouteTableId": reference(&route_table("Public", zone)),
                    "DestinationCidrBlock": "0.0.0.0/0",
                    "GatewayId": reference(&gateway),
                })
            });
            if let Some(part) = self.parts.get_mut(&route) {
                part.after(&attachment);
            }
        }
        for (name, service) in [("s3", "s3"), ("dynamo-db", "dynamodb")] {
            let id = logical(&["Stp", &format!("{name}-Gateway"), "VPCEndpoint"]);
            let tables: Vec<Value> = (0..self.zones())
                .map(|zone| reference(&route_table("Public", zone)))
                .collect();
            self.share(&id, "AWS::EC2::VPCEndpoint", |_| {
                json!({
                    "VpcId": reference(vpc),
                    "ServiceName": sub(format!("com.amazonaws.${{AWS::Region}}.{service}")),
                    "VpcEndpointType": "Gateway",
                    "RouteTableIds": tables,
                })
            });
        }
    }

    fn make_private(&mut self, network: &Net, zones: u32) {
        let vpc = logical(&["Stp", "VPC"]);
        let gateways = self.nat_zones();
        for zone in 0..gateways {
            let address = logical(&["Stp", "Nat", &format!("EIP{zone}")]);
            self.share(&address, "AWS::EC2::EIP", |_| json!({ "Domain": "vpc" }));
            if let Some(part) = self.parts.get_mut(&address) {
                part.after(logical(&["Stp", "VPCGatewayAttachment"]));
            }
            let public = usize::try_from(zone)
                .ok()
                .and_then(|zone| network.public_subnets.get(zone))
                .cloned();
            self.share(&nat(zone), "AWS::EC2::NatGateway", |_| {
                json!({ "AllocationId": attribute(&address, "AllocationId"), "SubnetId": public })
            });
        }
        for zone in 0..zones {
            let range = format!("10.0.{}.0/19", 128 + zone * 32);
            self.make_subnet(&vpc, "Private", zone, &range);
            let route = logical(&["Stp", "NatPrivateSubnet", &format!("Route{zone}")]);
            self.share(&route, "AWS::EC2::Route", |_| {
                json!({
                    "RouteTableId": reference(&route_table("Private", zone)),
                    "DestinationCidrBlock": "0.0.0.0/0",
                    "NatGatewayId": reference(&nat(zone % gateways)),
                })
            });
        }
        for name in ["s3", "dynamo-db"] {
            let id = logical(&["Stp", &format!("{name}-Gateway"), "VPCEndpoint"]);
            let tables = self
                .parts
                .get_mut(&id)
                .and_then(|part| part.properties.get_mut("RouteTableIds"))
                .and_then(Value::as_array_mut);
            if let Some(tables) = tables {
                tables.extend((0..zones).map(|zone| reference(&route_table("Private", zone))));
            }
        }
    }

    fn make_subnet(&mut self, vpc: &str, kind: &str, zone: u32, range: &str) {
        let name = format!("{}-{}-{zone}", self.facts.stack_name(), kind.to_lowercase());
        let id = subnet(kind, zone);
        self.share(&id, "AWS::EC2::Subnet", |_| {
            json!({
                "VpcId": reference(vpc),
                "CidrBlock": range,
                "AvailabilityZone": { "Fn::Select": [zone, { "Fn::GetAZs": "" }] },
                "MapPublicIpOnLaunch": (kind == "Public").then_some(true),
                "Tags": [{ "Key": "Name", "Value": name }],
            })
        });
        let table = route_table(kind, zone);
        self.share(
            &table,
            "AWS::EC2::RouteTable",
            |_| json!({ "VpcId": reference(vpc) }),
        );
        let association = logical(&[
            "Stp",
            &format!("{kind}Subnet{zone}"),
            "SubnetRouteTableAssociation",
        ]);
        self.share(
            &association,
            "AWS::EC2::SubnetRouteTableAssociation",
            |_| json!({ "RouteTableId": reference(&table), "SubnetId": reference(&id) }),
        );
    }
}

fn subnet(kind: &str, zone: u32) -> String {
    logical(&["Stp", kind, &format!("Subnet{zone}")])
}

fn route_table(kind: &str, zone: u32) -> String {
    logical(&["Stp", &format!("{kind}Subnet{zone}"), "RouteTable"])
}

fn nat(zone: u32) -> String {
    logical(&["Stp", &format!("NatGateway{zone}")])
}
