//! Real scripts in temporary directories, with a cloud that answers as it is told.

mod bastion;
mod cloud;
mod failures;
mod files;
mod roles;
mod values;
mod world;
