//! Real scripts in temporary directories, with a cloud with scripted answers.

mod bastion;
mod cloud;
mod failures;
mod files;
mod roles;
mod values;
mod world;
