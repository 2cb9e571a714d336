//! Commands on a terminal.

use crate::common::{Lab, wait_until};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const ROWS: u16 = 40;

/// A command on a terminal of its own.
pub struct Screen {
    child: Child,
    terminal: File,
    columns: u16,
    /// All that was written to it so far.
    output: Arc<Mutex<Vec<u8>>>,
}

impl Screen {
    pub fn start(lab: &Lab, columns: u16, arguments: &[&str]) -> Self {
        let (mut ours, mut theirs) = (0, 0);
        let size = libc::winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: both numbers are written; the descriptors are ours alone from here on.
        let (ours, theirs) = unsafe {
            let made = libc::openpty(
                &raw mut ours,
                &raw mut theirs,
                std::ptr::null_mut(),
                std::ptr::null(),
                &raw const size,
            );
            assert_eq!(made, 0);
            (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
        };
        let mut command = lab.command(arguments);
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap());
        let child = command.env("TERM", "xterm").stderr(theirs).spawn().unwrap();
        let terminal = File::from(ours);
        let (mut read, output) = (terminal.try_clone().unwrap(), Arc::default());
        let write = Arc::<Mutex<Vec<u8>>>::clone(&output);
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            // At its end the terminal is an error.
            while let Ok(bytes @ 1..) = read.read(&mut part) {
                write.lock().unwrap().extend_from_slice(&part[..bytes]);
            }
        });
        Self { child, terminal, columns, output }
    }

    pub fn press(&mut self, key: &[u8]) {
        self.terminal.write_all(key).unwrap();
    }

    pub fn await_words(&self, words: &[&str]) {
        wait_until(&format!("{words:?} on the screen"), || {
            let lines = lines(&self.output.lock().unwrap(), self.columns);
            words.iter().all(|word| lines.contains(word))
        });
    }

    pub fn end(mut self) -> ExitStatus {
        wait_until("the command ends", || self.child.try_wait().unwrap().is_some());
        self.child.wait().unwrap()
    }

    /// All lines that a command without a screen of its own has written when it ends, without
    /// colours.
    pub fn into_lines(mut self) -> Vec<String> {
        wait_until("the command ends", || self.child.try_wait().unwrap().is_some());
        // What it wrote last may still be on its way.
        std::thread::sleep(Duration::from_millis(100));
        let text = String::from_utf8_lossy(&self.output.lock().unwrap()).into_owned();
        let parts = text.split("\u{1b}[").enumerate().map(|(number, part)| match number {
            0 => part,
            _ => part
                .split_once(|sign: char| sign.is_ascii_alphabetic())
                .map_or("", |(_, rest)| rest),
        });
        // A bar goes back to the beginning of its line.
        parts.collect::<String>().split(['\n', '\r']).map(str::to_owned).collect()
    }
}

/// The lines of a screen on which this was written: cursor positions and clearing are followed,
/// colours are not.
fn lines(bytes: &[u8], columns: u16) -> String {
    let blank = vec![vec![' '; columns.into()]; ROWS.into()];
    let (mut cells, mut row, mut column) = (blank.clone(), 0, 0);
    let text = String::from_utf8_lossy(bytes);
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        if sign != '\u{1b}' {
            if let Some(cell) = cells.get_mut(row).and_then(|row| row.get_mut(column)) {
                *cell = sign;
            }
            column += 1;
            continue;
        }
        let sequence: String =
            signs.by_ref().take_while(|sign| !sign.is_ascii_alphabetic()).collect();
        let end = text[..text.len() - signs.as_str().len()].chars().next_back();
        let mut numbers =
            sequence.trim_start_matches('[').split(';').map(|number| number.parse().unwrap_or(1));
        match end {
            Some('H') => {
                row = numbers.next().unwrap_or(1) - 1;
                column = numbers.next().unwrap_or(1) - 1;
            }
            Some('J') => cells.clone_from(&blank),
            _ => {}
        }
    }
    cells.iter().map(|row| row.iter().collect::<String>() + "\n").collect()
}
