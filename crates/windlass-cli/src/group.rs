//! A group of commands whose part of the argument tree is made when one of them is called.
//!
//! Clap makes the whole tree for every command line otherwise, which takes longer than opening the
//! store. A parent names the group and what it is for; that is all its help shows.

use std::ops::Deref;

use clap::{ArgMatches, Command, Error, FromArgMatches, Subcommand};

/// The command of a group that was called.
#[derive(Debug)]
pub(crate) struct Group<T>(pub(crate) Box<T>);

impl<T> Deref for Group<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Subcommand> FromArgMatches for Group<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Box::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        Box::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches_mut(matches)
    }
}

impl<T: Subcommand> Subcommand for Group<T> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(T::augment_subcommands)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(T::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}
