//! Attempts to write, through the rules and past them, against real servers.

mod ask;
mod mariadb;
mod postgres;
mod redis;
