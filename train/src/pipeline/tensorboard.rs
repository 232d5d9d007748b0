//! Event files that TensorBoard reads, with scalars alone.
//!
//! An event file is a row of records (the TFRecord framing of TensorFlow): the
//! length, its checksum, the data, their checksum. The data are protocol buffers,
//! `Event` of tensorflow/core/util/event.proto with a `Summary` of
//! tensorflow/core/framework/summary.proto; of both only the few fields used here
//! are written, which is less than a library for all of them would take.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde_json::Value;

use super::files::io_error;
use super::progress_file::seconds_now;
use super::run_dir::RunDirError;

/// An event file that events are added to.
#[derive(Debug)]
pub(super) struct EventFile {
    path: std::path::PathBuf,
    file: File,
}

impl EventFile {
    /// Begins a new file in a folder. What older files there say of `first_step` and
    /// later steps is void: readers drop it where the session starts anew.
    pub(super) fn create(folder: &Path, first_step: u64) -> Result<EventFile, RunDirError> {
        fs::create_dir_all(folder).map_err(io_error("create", folder))?;
        let seconds = seconds_now() as u64;
        let mut attempt = 0;
        let (path, file) = loop {
            // Readers take files in the order of their names.
            let name = format!("events.out.tfevents.{seconds:010}.{attempt:04}.cyvasse");
            let path = folder.join(name);
            match File::create_new(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => attempt += 1,
                Err(error) => return Err(io_error("create", &path)(error)),
            }
        };
        let mut events = EventFile { path, file };
        events.write(&[event(0), text(3, b"brain.Event:2")].concat())?;
        // SessionLog.status = START
        events
            .write(&[event(first_step), text(7, &[key(1, VARINT), vec![1]].concat())].concat())?;
        Ok(events)
    }

    /// Adds the numbers of a step, each under the name of its place.
    pub(super) fn add(&mut self, step: u64, numbers: &Value) -> Result<(), RunDirError> {
        let mut summary = Vec::new();
        each_number(numbers, "", &mut |tag, number| {
            let value = [text(1, tag.as_bytes()), fixed32(2, number as f32)].concat();
            summary.extend(text(1, &value));
        });
        self.write(&[event(step), text(5, &summary)].concat())
    }

    /// Adds a record.
    fn write(&mut self, data: &[u8]) -> Result<(), RunDirError> {
        let length = (data.len() as u64).to_le_bytes();
        let record = [&length[..], &checksum(&length), data, &checksum(data)].concat();
        // In one piece, for whoever reads while the run goes on.
        self.file.write_all(&record).map_err(io_error("write", &self.path))
    }
}

/// Calls `visit` with each number in a value and where it stands: the keys and
/// indices on the way, with `/` between.
fn each_number(value: &Value, tag: &str, visit: &mut impl FnMut(&str, f64)) {
    let inner = |name: &str| if tag.is_empty() { name.to_owned() } else { format!("{tag}/{name}") };
    match value {
        Value::Number(number) => visit(tag, number.as_f64().unwrap_or(f64::NAN)),
        Value::Object(entries) => {
            entries.iter().for_each(|(name, value)| each_number(value, &inner(name), visit));
        }
        Value::Array(entries) => {
            let entries = entries.iter().enumerate();
            entries.for_each(|(at, value)| each_number(value, &inner(&at.to_string()), visit));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The masked CRC-32C of the framing.
fn checksum(data: &[u8]) -> [u8; 4] {
    let sum = crc32c::crc32c(data);
    sum.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

// Fields of protocol buffers.

const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const BYTES: u8 = 2;
const FIXED32: u8 = 5;

/// The time and the step that every event begins with.
fn event(step: u64) -> Vec<u8> {
    let time = seconds_now().to_le_bytes();
    [key(1, FIXED64), time.into(), key(2, VARINT), varint(step)].concat()
}

fn key(field: u8, kind: u8) -> Vec<u8> {
    vec![field << 3 | kind]
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A field with a length: a text, or a message.
fn text(field: u8, bytes: &[u8]) -> Vec<u8> {
    [&key(field, BYTES), &varint(bytes.len() as u64)[..], bytes].concat()
}

fn fixed32(field: u8, number: f32) -> Vec<u8> {
    [key(field, FIXED32), number.to_le_bytes().into()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encodings_are_those_of_their_specifications() {
        // The example of the encoding guide of protocol buffers.
        assert_eq!(varint(150), [0x96, 0x01]);
        assert_eq!([key(1, VARINT), varint(150)].concat(), [0x08, 0x96, 0x01]);
        assert_eq!(text(2, b"testing"), b"\x12\x07testing");
        // RFC 3720, B.4: 32 bytes of zeros, whose CRC-32C is 8a9136aa.
        let masked = 0x8a91_36aau32.rotate_right(15).wrapping_add(0xa282_ead8);
        assert_eq!(checksum(&[0; 32]), masked.to_le_bytes());
    }

    #[test]
    fn numbers_are_named_by_their_place() {
        let value = serde_json::json!({
            "a": 1, "b": { "c": [0.5, { "d": -2 }], "none": null, "yes": true, "word": "x" }
        });
        let mut seen = Vec::new();
        each_number(&value, "", &mut |tag, number| seen.push((tag.to_owned(), number)));
        let expected = [("a", 1.0), ("b/c/0", 0.5), ("b/c/1/d", -2.0)];
        assert_eq!(seen, expected.map(|(tag, number)| (tag.to_owned(), number)));
    }
}
