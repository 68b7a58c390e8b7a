//! Small projects, hostile ones, and the real tools where they are installed.

mod fixture;
mod functions;
mod hostile;
mod images;
mod real_tools;
mod untrusted;
mod uploads;
