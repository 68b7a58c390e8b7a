//! What earlier deployments of a stack called its resources: the template of today has no names for
//! what it no longer holds.

use std::collections::BTreeMap;

use windlass_stack_lifecycle::Access;
use windlass_stack_lifecycle::assets::AssetStore;
use windlass_stack_lifecycle::versions;

/// Logical id → the resource of the config, as the newest version has it. Without a version, or
/// without access to it, nothing is known and logical ids have to do.
pub(crate) async fn names(
    access: &Access,
    store: &AssetStore,
    stack: &str,
) -> BTreeMap<String, String> {
    let Ok(all) = versions::list(access, store, stack).await else {
        return BTreeMap::new();
    };
    let Some(newest) = all.into_iter().max() else {
        return BTreeMap::new();
    };
    let record = versions::read(access, store, stack, newest).await;
    record.map_or_else(|_| BTreeMap::new(), |record| record.names)
}

/// The same in the account of the caller.
pub(crate) async fn names_of(access: &Access, stack: &str) -> BTreeMap<String, String> {
    match AssetStore::of_caller(access).await {
        Ok(store) => names(access, &store, stack).await,
        Err(_) => BTreeMap::new(),
    }
}
