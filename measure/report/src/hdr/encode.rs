//! From counts to the text in a log or a report.

use super::Buckets;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram as Library;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use openloop_measurer::{Histogram, LIMIT_NS};

/// The buckets of a histogram of a report, as other libraries decode them.
pub(crate) fn encode_ours(histogram: &Histogram) -> String {
    let counts = histogram.buckets();
    written(Library::new_with_bounds(1, LIMIT_NS, 3).ok(), counts).unwrap_or_default()
}

/// The buckets of any histogram; `None` if there are more values than the encoding can say.
pub(crate) fn encode(buckets: &Buckets) -> Option<String> {
    let precision = buckets.precision();
    let highest = buckets
        .iter()
        .next_back()
        .map_or(0, |(_, highest, _)| highest);
    let highest = highest.max(2 * precision.lowest());
    let library = Library::new_with_bounds(precision.lowest(), highest, precision.digits());
    let counts = buckets.iter().map(|(lowest, _, count)| (lowest, count));
    written(library.ok(), counts)
}

fn written(
    library: Option<Library<u64>>,
    mut counts: impl Iterator<Item = (u64, u64)>,
) -> Option<String> {
    let mut library = library?;
    counts
        .try_for_each(|(value, count)| library.record_n(value, count))
        .ok()?;
    let mut compressed = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&library, &mut compressed)
        .ok()?;
    Some(STANDARD.encode(compressed))
}
