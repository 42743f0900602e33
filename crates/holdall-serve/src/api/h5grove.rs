//! `/h5grove/`: the dialect of h5grove 4.

use crate::h5grove::Format;
use crate::reply::{Failure, Reply};
use crate::routes::Call;

pub(crate) fn meta(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let opened = call.opened()?;
    let path = call.query.get("path").unwrap_or("/");
    reply.json(&opened.entities.meta(opened.container(), path)?)
}

pub(crate) fn attributes(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let opened = call.opened()?;
    let path = call.query.get("path").unwrap_or("/");
    reply.json(&opened.entities.attributes(opened.container(), path)?)
}

pub(crate) fn paths(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let opened = call.opened()?;
    let base = call.query.get("path").unwrap_or("/");
    reply.json(&opened.entities.paths(opened.container(), base, &call.job.read().limits)?)
}

pub(crate) fn data(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let opened = call.opened()?;
    let (query, container) = (call.query, opened.container());
    let path = query.require("path")?;
    let format = Format::parse(query.get("format").unwrap_or("json"))?;
    let selection = query.get("selection").filter(|text| !text.is_empty());
    let is_safe = query.get("dtype") == Some("safe");
    let wanted =
        opened.entities.data(container, path, selection, (format, query.is_true("flatten"), is_safe))?;
    let most = call.job.max_answer();
    let len = wanted.len();
    // Numbers in JSON are longer than stored.
    let least = len.unwrap_or_else(|| wanted.stored_len());
    if least > most {
        return Err(Failure::too_large(least, most));
    }
    if let Some(name) = wanted.file_name() {
        reply.header("content-disposition", &format!("attachment; filename=\"{name}\""));
    }
    let content_type = wanted.content_type();
    match len {
        Some(len) => {
            // A piece behind: what cannot be read from its start on is an error, and no answer that breaks off behind the header of a file.
            let (mut held, mut has_begun) = (Vec::new(), false);
            wanted.write(container, &call.job.read(), &mut |piece| {
                let before = std::mem::replace(&mut held, piece);
                if before.is_empty() {
                    return Ok(());
                }
                if !std::mem::replace(&mut has_begun, true) {
                    reply.begin(content_type, Some(len));
                }
                reply.send(before)
            })?;
            if !has_begun {
                reply.begin(content_type, Some(len));
            }
            Ok(reply.send(held)?)
        }
        None => {
            let mut body = Vec::new();
            wanted.write(container, &call.job.read(), &mut |piece| {
                if (body.len() + piece.len()) as u64 > most {
                    return Err(container_core::Error::limit(
                        "bytes of an answer",
                        (body.len() + piece.len()) as u64,
                        most,
                    ));
                }
                body.extend(piece);
                Ok(())
            })?;
            reply.whole(content_type, body)
        }
    }
}
