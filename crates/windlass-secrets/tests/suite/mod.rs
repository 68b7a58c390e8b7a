//! What the written samples say about recall and false hits.

mod samples;
