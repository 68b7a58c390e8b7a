//! The compiler against whole configs.

mod suite {
    mod goldens;
    mod lint;
    mod properties;
    mod refusals;
    mod schema;
    mod world;
}
