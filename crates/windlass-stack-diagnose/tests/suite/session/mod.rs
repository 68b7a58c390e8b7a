//! Tunnels and commands through an agent that forwards to real servers and runs real commands.

mod cloud;
mod command;
mod database;
mod moto;
mod tunnel;
mod world;
