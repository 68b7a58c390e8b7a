mod app;
mod failures;
mod project;
