//! The store from outside, through the ports it implements.

mod suite;
