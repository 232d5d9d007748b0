//! The seal at the beginning of a shard (see [`super::schema`]).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::error::ReplayError;
use super::schema::SEAL_BYTES;

const FIRST_LINE: &str = "cyvasse replay shard\n";

/// Writes the seal over the first bytes of a file that is complete otherwise.
pub(super) fn stamp(file: &mut File) -> io::Result<()> {
    file.seek(SeekFrom::Start(SEAL_BYTES as u64))?;
    let block = block(&contents(file)?);
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&block)
}

/// Checks that a file is sealed and is as it was when it was.
pub(super) fn check(path: &Path) -> Result<(), ReplayError> {
    let io_error = |reason| ReplayError::Io { attempt: "read", path: path.to_owned(), reason };
    let mut file = File::open(path).map_err(io_error)?;
    let mut seal = Vec::with_capacity(SEAL_BYTES);
    (&mut file).take(SEAL_BYTES as u64).read_to_end(&mut seal).map_err(io_error)?;
    if !seal.starts_with(FIRST_LINE.as_bytes()) {
        return Err(ReplayError::NotAShard { path: path.to_owned() });
    }
    let found = contents(&mut file).map_err(io_error)?;
    if seal != block(&found) {
        return Err(ReplayError::Damaged {
            path: path.to_owned(),
            found: on_one_line(&found),
            sealed: on_one_line(&String::from_utf8_lossy(&seal[FIRST_LINE.len()..])),
        });
    }
    Ok(())
}

/// What the seal says of the rest of a file, from where it is read now.
fn contents(file: &mut File) -> io::Result<String> {
    let mut hasher = crc32fast::Hasher::new();
    let mut length = 0u64;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(format!("bytes {length}\ncrc32 {:08x}\n", hasher.finalize())),
            Ok(count) => {
                hasher.update(&buffer[..count]);
                length += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn block(contents: &str) -> Vec<u8> {
    let mut block = format!("{FIRST_LINE}{contents}").into_bytes();
    block.resize(SEAL_BYTES, 0);
    block
}

/// At most 60 printable characters of a text, for an error message.
fn on_one_line(text: &str) -> String {
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let line: String = text.trim_end_matches('\0').chars().take(60).map(printable).collect();
    line.trim_end().to_owned()
}
