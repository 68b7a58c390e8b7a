//! Integration tests against real servers.

mod ask;
mod mariadb;
mod postgres;
mod postgres_connections;
mod redis;
