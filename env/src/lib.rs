//! The rules of Cyvasse: The Iron Throne.
