//! Answers of real servers, as they came over the wire: `tests/data/sse`.

use http::StatusCode;
use std::path::Path;

/// One answer.
pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) status: StatusCode,
    pub(crate) is_json: bool,
    /// Its transfer coding taken off.
    pub(crate) body: Vec<u8>,
}

/// All of them. Folders are servers: llama-server b11434 and dasllama 0.6.6.
pub(crate) fn all() -> Vec<Recorded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sse");
    let mut all = Vec::new();
    for server in ["llama-server", "dasllama"] {
        for file in std::fs::read_dir(folder.join(server)).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            all.push(read(
                format!("{server}/{name}"),
                &std::fs::read(&path).unwrap(),
            ));
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// One of them.
pub(crate) fn of(name: &str) -> Recorded {
    let found = all().into_iter().find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("{name} is not recorded"))
}

fn read(name: String, raw: &[u8]) -> Recorded {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let end = raw.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    let (head, mut rest) = raw.split_at(end.unwrap() + 4);
    let head = text(head).to_ascii_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let is_json = head.contains("content-type: application/json");
    let mut body = Vec::new();
    if !head.contains("chunked") {
        body.extend_from_slice(rest);
        rest = &[];
    }
    while let Some(end) = rest.windows(2).position(|bytes| bytes == b"\r\n") {
        let length = usize::from_str_radix(text(&rest[..end]).trim(), 16).unwrap();
        body.extend_from_slice(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + length + 4..];
    }
    Recorded {
        name,
        status,
        is_json,
        body,
    }
}
