//! Calls that need another program; see `suite`.

#[cfg(test)]
mod suite {
    mod real_model;
}
