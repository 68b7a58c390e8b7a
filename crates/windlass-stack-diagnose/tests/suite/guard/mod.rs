//! Attempts to write, through the rules and past them, against real servers.

mod ask;
mod mariadb;
mod mariadb_functions;
mod postgres;
mod postgres_functions;
mod postgres_queries;
mod redis;
