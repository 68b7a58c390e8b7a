//! Counts the bytes the rules look at, in tests only: time depends on the machine, work does not.

#[cfg(test)]
thread_local! {
    static DONE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Notes that so many bytes were looked at.
#[inline]
#[cfg_attr(not(test), expect(unused_variables, reason = "only tests count"))]
pub(crate) fn note(bytes: usize) {
    #[cfg(test)]
    DONE.set(DONE.get() + bytes as u64);
}

/// How many bytes the rules looked at while `job` ran.
#[cfg(test)]
pub(crate) fn of(job: impl FnOnce()) -> u64 {
    DONE.set(0);
    job();
    DONE.get()
}
