//! Starting a program with everything made ready before. The standard library collects the
//! environment while it starts one, which takes longer than the start itself and would be measured
//! with it.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::null_mut;

/// Where a command's standard input, output and error go; `None`: where ours do.
pub type Streams = [Option<OwnedFd>; 3];

/// A command that is ready to be started, each time as the leader of a process group of its own.
pub struct Start {
    program: CString,
    words: Vec<CString>,
    environment: Vec<CString>,
    actions: Actions,
    attributes: Attributes,
    /// Open as long as it may be started.
    _streams: Streams,
}

impl Start {
    /// Program, arguments, environment and folder of a command; its streams are these.
    ///
    /// # Errors
    /// A zero byte in one of its texts; no memory.
    pub fn new(command: &Command, streams: Streams) -> io::Result<Self> {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let folder =
            command.get_current_dir().map(|folder| text(folder.as_os_str())).transpose()?;
        Ok(Self {
            program: text(&program(command)?)?,
            words: words.map(text).collect::<io::Result<_>>()?,
            environment: environment(command)
                .map(|variable| text(&variable))
                .collect::<io::Result<_>>()?,
            actions: Actions::new(&streams, folder.as_deref())?,
            attributes: Attributes::new()?,
            _streams: streams,
        })
    }

    /// Gives a variable of its environment another value.
    ///
    /// # Errors
    /// A zero byte in it.
    pub fn set(&mut self, name: &str, value: &str) -> io::Result<()> {
        let variable = text(&format!("{name}={value}"))?;
        let known = self.environment.iter_mut().find(|environment| {
            environment
                .as_bytes()
                .strip_prefix(name.as_bytes())
                .is_some_and(|rest| rest.starts_with(b"="))
        });
        match known {
            Some(known) => *known = variable,
            None => self.environment.push(variable),
        }
        Ok(())
    }

    /// Starts it: as `posix_spawnp(3)` does, so that the program is looked for on our `PATH`. The
    /// number of the process.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn go(&self) -> io::Result<libc::pid_t> {
        let words = pointers(&self.words);
        let environment = pointers(&self.environment);
        let mut pid = 0;
        // SAFETY: all are valid until it returns; the arrays of texts end with null.
        let error = unsafe {
            libc::posix_spawnp(
                &raw mut pid,
                self.program.as_ptr(),
                &raw const self.actions.0,
                &raw const self.attributes.0,
                words.as_ptr(),
                environment.as_ptr(),
            )
        };
        done(error).map(|()| pid)
    }
}

/// Actions of the new process before it executes the program.
struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new(streams: &Streams, folder: Option<&CStr>) -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: it initialises what it is given.
        done(unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) })?;
        // SAFETY: it has been initialised.
        let mut actions = Self(unsafe { actions.assume_init() });
        for (number, stream) in (0..).zip(streams) {
            let Some(stream) = stream else { continue };
            // SAFETY: `actions` is initialised, and the file open.
            done(unsafe {
                libc::posix_spawn_file_actions_adddup2(
                    &raw mut actions.0,
                    stream.as_raw_fd(),
                    number,
                )
            })?;
        }
        if let Some(folder) = folder {
            let add_chdir = add_chdir()?;
            // SAFETY: `actions` is initialised, and the text, which is copied, valid.
            done(unsafe { add_chdir(&raw mut actions.0, folder.as_ptr()) })?;
        }
        Ok(actions)
    }
}

/// `posix_spawn_file_actions_addchdir_np(3)`.
type AddChdir =
    unsafe extern "C" fn(*mut libc::posix_spawn_file_actions_t, *const libc::c_char) -> libc::c_int;

/// Looks the function up: glibc has it since 2.29, and the program also starts with 2.28.
fn add_chdir() -> io::Result<AddChdir> {
    let name = c"posix_spawn_file_actions_addchdir_np";
    // SAFETY: the name is a text that ends.
    let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if function.is_null() {
        let cause = "starting a program in another folder needs glibc 2.29 or newer";
        return Err(io::Error::new(io::ErrorKind::Unsupported, cause));
    }
    // SAFETY: the function of this name has this type, on glibc and on musl.
    Ok(unsafe { std::mem::transmute::<*mut libc::c_void, AddChdir>(function) })
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, and not used any more.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

/// A process group of its own; no signal blocked, and that of a closed pipe, which we ignore, as it
/// is by default.
struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new() -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: it initialises what it is given.
        done(unsafe { libc::posix_spawnattr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: it has been initialised.
        let mut attributes = Self(unsafe { attributes.assume_init() });
        let flags = libc::POSIX_SPAWN_SETPGROUP
            | libc::POSIX_SPAWN_SETSIGDEF
            | libc::POSIX_SPAWN_SETSIGMASK;
        // SAFETY: `attributes` is initialised, and both sets are before they are read.
        unsafe {
            let mut signals = MaybeUninit::uninit();
            libc::sigemptyset(signals.as_mut_ptr());
            let mut signals = signals.assume_init();
            done(libc::posix_spawnattr_setsigmask(&raw mut attributes.0, &raw const signals))?;
            libc::sigaddset(&raw mut signals, libc::SIGPIPE);
            done(libc::posix_spawnattr_setsigdefault(&raw mut attributes.0, &raw const signals))?;
            done(libc::posix_spawnattr_setpgroup(&raw mut attributes.0, 0))?;
            done(libc::posix_spawnattr_setflags(&raw mut attributes.0, flags as libc::c_short))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, and not used any more.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

/// The environment of a command, `NAME=VALUE`: ours, with its changes.
fn environment(command: &Command) -> impl Iterator<Item = OsString> {
    let changes: Vec<(&OsStr, Option<&OsStr>)> = command.get_envs().collect();
    let kept: Vec<_> = std::env::vars_os()
        .filter(|(name, _)| !changes.iter().any(|(changed, _)| *changed == name))
        .collect();
    let set =
        changes.iter().filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?.to_owned())));
    let all: Vec<_> = kept.into_iter().chain(set).collect();
    all.into_iter().map(|(mut variable, value)| {
        variable.push("=");
        variable.push(value);
        variable
    })
}

/// The program of a command, looked up in the `PATH` of its environment if that sets one.
fn program(command: &Command) -> io::Result<OsString> {
    let name = command.get_program();
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    let Some(path) = path.filter(|_| !name.as_bytes().contains(&b'/')) else {
        return Ok(name.to_owned());
    };
    let files = std::env::split_paths(path).map(|folder| folder.join(name));
    let found = files.into_iter().find(|file| is_executable(file));
    found.map(PathBuf::into_os_string).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

fn text(text: &(impl AsRef<OsStr> + ?Sized)) -> io::Result<CString> {
    Ok(CString::new(text.as_ref().to_owned().into_vec())?)
}

fn pointers(texts: &[CString]) -> Vec<*mut libc::c_char> {
    texts.iter().map(|text| text.as_ptr().cast_mut()).chain([null_mut()]).collect()
}

fn done(error: libc::c_int) -> io::Result<()> {
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}
