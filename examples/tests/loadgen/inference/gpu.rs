//! The script for a machine with a GPU.

use super::*;

/// The script for a machine with a GPU says that there is none, by the status that stands for a test that was not run.
#[cfg(unix)]
#[test]
fn without_a_gpu_the_script_for_one_says_so() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/gpu/knee.sh");
    // Without a path there is no nvidia-smi either.
    let output = Command::new("/bin/bash")
        .arg(script)
        .env("PATH", "")
        .output();
    let output = output.unwrap();
    assert_status(&output, 77);
    assert!(
        stdout(&output).contains("no NVIDIA GPU"),
        "{}",
        stdout(&output)
    );
}
