//! The durable run engine and the operation catalogue.
