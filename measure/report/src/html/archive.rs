//! The report inside its page.

use crate::{ReadError, Report};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use maud::{Markup, PreEscaped, html};
use std::io::{self, Read};

/// What stands before the report. A text of the user cannot contain it: its `<` is written otherwise.
const PLAIN: &str = r#"<script type="application/json" id="openloop-report">"#;
/// The same for one that is compressed, as zlib in base64.
const COMPRESSED: &str = r#"<script type="application/zlib;base64" id="openloop-report">"#;
const END: &str = "</script>";

/// Longer reports are compressed: of a run of an hour there are many intervals.
const LONG: usize = 256 << 10;

/// More than any report has, decompressed.
const LONGEST: u64 = 1 << 30;

/// The whole report, for programs.
pub(super) fn embedded(report: &Report) -> io::Result<Markup> {
    let json = serde_json::to_string(report)?;
    Ok(match json.len() > LONG {
        false => {
            // In JSON, it stands in strings only.
            let harmless = json.replace('<', "\\u003c");
            html! { (PreEscaped(PLAIN)) (PreEscaped(harmless)) (PreEscaped(END)) }
        }
        true => {
            let mut bytes = Vec::new();
            ZlibEncoder::new(json.as_bytes(), Compression::best()).read_to_end(&mut bytes)?;
            html! { (PreEscaped(COMPRESSED)) (PreEscaped(STANDARD.encode(bytes))) (PreEscaped(END)) }
        }
    })
}

/// The JSON of the report inside `page`.
pub(crate) fn extract(page: &str) -> Result<Vec<u8>, ReadError> {
    let between = |start: &str| Some(page.split_once(start)?.1.split_once(END)?.0);
    if let Some(json) = between(PLAIN) {
        return Ok(json.as_bytes().to_vec());
    }
    let text = between(COMPRESSED).ok_or(ReadError::NoReportInside)?;
    let damaged = |error: String| ReadError::Damaged(error);
    let bytes = STANDARD
        .decode(text.trim())
        .map_err(|error| damaged(error.to_string()))?;
    let mut json = Vec::new();
    let mut inflated = ZlibDecoder::new(bytes.as_slice()).take(LONGEST);
    inflated
        .read_to_end(&mut json)
        .map_err(|error| damaged(error.to_string()))?;
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_page_of_a_report_is_refused() {
        assert!(matches!(
            extract("<html></html>"),
            Err(ReadError::NoReportInside)
        ));
        let cut = format!("{PLAIN}{{");
        assert!(matches!(extract(&cut), Err(ReadError::NoReportInside)));
        let damaged = format!("{COMPRESSED}eJw{END}");
        assert!(matches!(extract(&damaged), Err(ReadError::Damaged(_))));
        let not_base64 = format!("{COMPRESSED}?{END}");
        assert!(matches!(extract(&not_base64), Err(ReadError::Damaged(_))));
    }
}
