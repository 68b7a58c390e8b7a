//! Integration tests against real servers.

mod mariadb;
mod postgres;
mod postgres_connections;
mod postgres_writes;
mod redis;
mod request;
