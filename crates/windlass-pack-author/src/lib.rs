//! The config repository as its author sees it: begun, imported into, locked, checked.
//!
//! Reads the repository and the machine, decides what should be written and says so as file
//! actions; writing them, under locks and with a journal, is the caller's work.
