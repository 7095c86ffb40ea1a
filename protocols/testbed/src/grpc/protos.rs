//! The protos of this crate, compiled when a server starts: its reflection sends them.

use std::io;

use prost::Message;
use prost_types::FileDescriptorSet;
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

/// By the names under which they import each other.
const PROTOS: [(&str, &str); 3] = [
    (
        "openloop/testbed/echo.proto",
        include_str!("../../proto/openloop/testbed/echo.proto"),
    ),
    (
        "openloop/testbed/extras.proto",
        include_str!("../../proto/openloop/testbed/extras.proto"),
    ),
    (
        "inference.proto",
        include_str!("../../proto/inference.proto"),
    ),
];

struct Embedded;

impl FileResolver for Embedded {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match PROTOS.iter().find(|(known, _)| *known == name) {
            Some((name, text)) => File::from_source(name, text),
            None => Err(protox::Error::file_not_found(name)),
        }
    }
}

/// Their descriptors, imports included.
pub(crate) fn descriptors() -> io::Result<FileDescriptorSet> {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Embedded);
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true);
    compiler
        .open_files(PROTOS.map(|(name, _)| name))
        .map_err(io::Error::other)?;
    Ok(compiler.file_descriptor_set())
}

/// What `protoc --include_imports --descriptor_set_out` would write of the server's protos.
///
/// # Errors
///
/// Where they do not compile.
pub fn descriptor_set() -> io::Result<Vec<u8>> {
    Ok(descriptors()?.encode_to_vec())
}
