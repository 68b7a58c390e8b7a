//! What a server answers as parts of a conversation: bounded, cleaned.

use rmcp::model::{ContentBlock, ResourceContents};
use serde_json::Value;
use windlass_ports::{CallLimits, Media, Part, ServerReply};

use crate::clean;

/// More pictures and files than this are left out.
const MOST_MEDIA: usize = 20;
/// More blocks than this are left out.
const MOST_BLOCKS: usize = 10_000;
/// What every model reads as a picture.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Collects an answer within its limits.
pub(crate) struct Reply {
    limits: CallLimits,
    room: usize,
    media: usize,
    reply: ServerReply,
}

impl Reply {
    pub fn new(limits: CallLimits) -> Self {
        Self {
            limits,
            room: limits.text,
            media: 0,
            reply: ServerReply::default(),
        }
    }

    /// What was collected.
    pub fn finish(self) -> ServerReply {
        self.reply
    }

    /// Adds the blocks of a result.
    pub fn blocks(&mut self, blocks: Vec<ContentBlock>) {
        let more = blocks.len().saturating_sub(MOST_BLOCKS);
        for block in blocks.into_iter().take(MOST_BLOCKS) {
            self.block(block);
        }
        if more > 0 {
            let left_out = format!("[{more} more blocks are left out]");
            self.reply.parts.push(Part::text(left_out));
        }
    }

    fn block(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(block) => self.text(&block.text),
            ContentBlock::Image(block) => self.media(&block.mime_type, block.data, None),
            ContentBlock::Audio(block) => self.left_out(&block.mime_type, block.data.len(), None),
            ContentBlock::Resource(block) => self.resource(block.resource),
            ContentBlock::ResourceLink(link) => {
                let name = clean::line(&link.name, clean::LONGEST_MESSAGE);
                let uri = clean::line(&link.uri, clean::LONGEST_MESSAGE);
                self.note(format!("[resource {name}: {uri}]"));
            }
            _ => self.note("[a kind of content that is not known]".to_owned()),
        }
    }

    /// Adds the contents of a resource.
    pub fn resource(&mut self, contents: ResourceContents) {
        match contents {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                let uri = clean::line(&uri, clean::LONGEST_MESSAGE);
                self.note(format!("[resource {uri}]"));
                self.text(&text);
            }
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => {
                let kind = mime_type.as_deref().unwrap_or("application/octet-stream");
                self.media(kind, blob, Some(&uri));
            }
            _ => self.note("[a kind of resource that is not known]".to_owned()),
        }
    }

    /// Adds the structured result. Without any other content it is shown as text, too.
    pub fn structured(&mut self, value: Option<Value>) {
        let Some(value) = value else { return };
        let text = value.to_string();
        if self.reply.parts.is_empty() {
            self.text(&text);
        }
        if text.len() <= self.limits.text {
            self.reply.structured = Some(value);
        } else {
            self.reply.omitted += text.len() as u64;
        }
    }

    pub fn is_error(&mut self, is_error: bool) {
        self.reply.is_error = is_error;
    }

    /// Adds text: all of it, or its beginning and its end.
    pub fn text(&mut self, raw: &str) {
        if self.room == 0 {
            self.reply.omitted += raw.len() as u64;
            return;
        }
        let Some((first, last, omitted)) = clean::ends(raw, self.room) else {
            self.room -= raw.len();
            self.reply.parts.push(Part::text(clean::text(raw)));
            return;
        };
        self.room = 0;
        self.reply.omitted += omitted;
        self.reply.parts.push(Part::text(format!(
            "{}\n[… {omitted} bytes are left out, and all text that follows …]\n{}",
            clean::text(first),
            clean::text(last)
        )));
    }

    /// A short text of our own. It counts, too: a server chooses how many there are.
    fn note(&mut self, text: String) {
        match self.room.checked_sub(text.len()) {
            Some(room) => {
                self.room = room;
                self.reply.parts.push(Part::text(text));
            }
            None => self.reply.omitted += text.len() as u64,
        }
    }

    fn media(&mut self, kind: &str, data: String, uri: Option<&str>) {
        let is_base64 = data
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        let is_picture = PICTURES.contains(&kind);
        let is_taken = is_picture || kind == "application/pdf";
        if !is_base64 || !is_taken || data.len() > self.limits.media || self.media == MOST_MEDIA {
            self.left_out(kind, data.len(), uri);
            return;
        }
        self.media += 1;
        let media = Media {
            media_type: kind.to_owned(),
            data,
            name: uri.map(|uri| clean::line(uri, clean::LONGEST_MESSAGE)),
        };
        self.reply.parts.push(match is_picture {
            true => Part::Image(media),
            false => Part::Document(media),
        });
    }

    fn left_out(&mut self, kind: &str, bytes: usize, uri: Option<&str>) {
        self.reply.omitted += bytes as u64;
        let kind = clean::line(kind, 100);
        let name = uri.map_or_else(String::new, |uri| {
            format!(" {}", clean::line(uri, clean::LONGEST_MESSAGE))
        });
        self.note(format!(
            "[{kind}{name}, {bytes} bytes of base64, is left out]"
        ));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn reply(limits: CallLimits, blocks: Value) -> ServerReply {
        let mut reply = Reply::new(limits);
        reply.blocks(serde_json::from_value(blocks).unwrap());
        reply.finish()
    }

    #[test]
    fn a_result_becomes_parts() {
        let limits = CallLimits {
            text: 400,
            media: 8,
            time: Duration::from_secs(1),
        };
        let blocks = json!([
            { "type": "text", "text": "one\u{1b}[2J\u{202e}two" },
            { "type": "image", "mimeType": "image/png", "data": "aGk=" },
            { "type": "image", "mimeType": "image/png", "data": "aGkhaGkhaGkh" },
            { "type": "image", "mimeType": "image/svg+xml", "data": "aGk=" },
            { "type": "image", "mimeType": "image/png", "data": "not base64" },
            { "type": "audio", "mimeType": "audio/wav", "data": "aGk=" },
            { "type": "resource_link", "uri": "file:///a\nb", "name": "a" },
            { "type": "resource", "resource": { "uri": "file:///t", "text": "0123456789".repeat(50) } },
            { "type": "resource", "resource": { "uri": "x:p", "mimeType": "application/pdf", "blob": "aGk=" } },
        ]);
        let reply = reply(limits, blocks);
        insta::assert_debug_snapshot!(reply, @r#"
        ServerReply {
            parts: [
                Text {
                    text: "one\\u{202e}two",
                },
                Image(
                    Media(image/png, None, 4 bytes of base64),
                ),
                Text {
                    text: "[image/png, 12 bytes of base64, is left out]",
                },
                Text {
                    text: "[image/svg+xml, 4 bytes of base64, is left out]",
                },
                Text {
                    text: "[image/png, 10 bytes of base64, is left out]",
                },
                Text {
                    text: "[audio/wav, 4 bytes of base64, is left out]",
                },
                Text {
                    text: "[resource a: file:///a\\nb]",
                },
                Text {
                    text: "[resource file:///t]",
                },
                Text {
                    text: "012345678901234567890123456789012345678901234567890123456789012345678901234567890\n[… 338 bytes are left out, and all text that follows …]\n901234567890123456789012345678901234567890123456789012345678901234567890123456789",
                },
                Document(
                    Media(application/pdf, Some("x:p"), 4 bytes of base64),
                ),
            ],
            structured: None,
            is_error: false,
            omitted: 368,
        }
        "#);
    }

    #[test]
    fn a_structured_result_alone_is_shown_as_text() {
        let mut reply = Reply::new(CallLimits::default());
        reply.structured(Some(json!({ "a": 1 })));
        let reply = reply.finish();
        assert_eq!(reply.parts, [Part::text("{\"a\":1}")]);
        assert_eq!(reply.structured, Some(json!({ "a": 1 })));
    }
}
