//! The command line: arguments in, operations called, answers rendered.
