//! Scripted servers, one file for what each group of them does.

mod eras;
mod failures;
mod limits;
mod pins;
mod remote;
mod sandbox;
mod support;
