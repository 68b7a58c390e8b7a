//! A page taken apart: every place lies in the page, and every marker is one of its comments.

use windlass_launch_model::markdown::{Document, marker_claim};

pub fn run(data: &[u8]) {
    let Ok(page) = std::str::from_utf8(data) else {
        return;
    };
    for read in [Document::parse(page), Document::parse_body(page)] {
        let lines = page.matches('\n').count() as u64 + 1;
        for sentence in &read.sentences {
            assert!(page.get(sentence.range.clone()).is_some());
            assert!(sentence.line <= sentence.end_line && sentence.end_line <= lines);
            assert!(!sentence.text.is_empty());
        }
        let ranges = read
            .headings
            .iter()
            .map(|heading| &heading.range)
            .chain(read.links.iter().map(|link| &link.range))
            .chain(read.code.iter().map(|code| &code.range))
            .chain(read.tags.iter().map(|tag| &tag.range))
            .chain(&read.comments)
            .chain(&read.verbatim);
        for range in ranges {
            assert!(page.get(range.clone()).is_some());
            assert!(range.start >= read.body);
        }
        for marker in read.markers() {
            assert!(marker.line <= lines);
            assert!(read.comments.contains(&marker.range) && marker.range.start >= read.body);
        }
        for comment in &read.comments {
            // Within a quote the comment may continue over marked lines.
            if let Some(id) = marker_claim(&page[comment.clone()])
                && !page[comment.clone()].contains('\n')
            {
                assert!(read.claim_ids().contains(id));
            }
        }
    }
}
