//! The functions of DuckDB's C interface that are used, as its documentation declares them.

use libloading::os::unix::Library as Loaded;
use std::ffi::{c_char, c_void};

/// A pointer to a DuckDB object: all handles are opaque.
pub type Handle = *mut c_void;

/// `duckdb_result`: its fields are deprecated, and only its size matters.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawResult {
    pub counts: [u64; 3],
    pub pointers: [Handle; 3],
}

/// `duckdb_uhugeint`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Unsigned128 {
    pub lower: u64,
    pub upper: u64,
}

/// Declares the functions that are used, and finds all of them in a library.
macro_rules! interface {
    ($($name:ident($($argument:ty),*) $(-> $answer:ty)?;)*) => {
        pub struct Interface {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $answer)?,)*
        }

        impl Interface {
            /// Finds the functions; else the name of one that is missing.
            pub fn find(library: &Loaded) -> Result<Self, &'static str> {
                Ok(Self { $($name: {
                    // SAFETY: the type is what DuckDB's documentation declares for this name.
                    let found = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                    *found.map_err(|_| stringify!($name))?
                },)* })
            }
        }
    };
}

interface! {
    duckdb_free(Handle);
    duckdb_create_config(*mut Handle) -> u32;
    duckdb_set_config(Handle, *const c_char, *const c_char) -> u32;
    duckdb_destroy_config(*mut Handle);
    duckdb_open_ext(*const c_char, *mut Handle, Handle, *mut *mut c_char) -> u32;
    duckdb_close(*mut Handle);
    duckdb_connect(Handle, *mut Handle) -> u32;
    duckdb_disconnect(*mut Handle);
    duckdb_interrupt(Handle);
    duckdb_extract_statements(Handle, *const c_char, *mut Handle) -> u64;
    duckdb_extract_statements_error(Handle) -> *const c_char;
    duckdb_prepare_extracted_statement(Handle, Handle, u64, *mut Handle) -> u32;
    duckdb_destroy_extracted(*mut Handle);
    duckdb_prepare_error(Handle) -> *const c_char;
    duckdb_destroy_prepare(*mut Handle);
    duckdb_nparams(Handle) -> u64;
    duckdb_bind_null(Handle, u64) -> u32;
    duckdb_bind_boolean(Handle, u64, bool) -> u32;
    duckdb_bind_int64(Handle, u64, i64) -> u32;
    duckdb_bind_double(Handle, u64, f64) -> u32;
    duckdb_bind_varchar_length(Handle, u64, *const c_char, u64) -> u32;
    duckdb_bind_value(Handle, u64, Handle) -> u32;
    duckdb_create_uuid(Unsigned128) -> Handle;
    duckdb_destroy_value(*mut Handle);
    duckdb_execute_prepared(Handle, *mut RawResult) -> u32;
    duckdb_destroy_result(*mut RawResult);
    duckdb_result_error(*mut RawResult) -> *const c_char;
    duckdb_column_count(*mut RawResult) -> u64;
    duckdb_column_name(*mut RawResult, u64) -> *const c_char;
    duckdb_row_count(*mut RawResult) -> u64;
    duckdb_value_varchar(*mut RawResult, u64, u64) -> *mut c_char;
    duckdb_vector_size() -> u64;
    duckdb_create_logical_type(u32) -> Handle;
    duckdb_create_decimal_type(u8, u8) -> Handle;
    duckdb_destroy_logical_type(*mut Handle);
    duckdb_create_data_chunk(*mut Handle, u64) -> Handle;
    duckdb_destroy_data_chunk(*mut Handle);
    duckdb_data_chunk_reset(Handle);
    duckdb_data_chunk_set_size(Handle, u64);
    duckdb_data_chunk_get_vector(Handle, u64) -> Handle;
    duckdb_vector_get_data(Handle) -> Handle;
    duckdb_vector_ensure_validity_writable(Handle);
    duckdb_vector_get_validity(Handle) -> *mut u64;
    duckdb_validity_set_row_invalid(*mut u64, u64);
    duckdb_vector_assign_string_element_len(Handle, u64, *const c_char, u64);
    duckdb_appender_create(Handle, *const c_char, *const c_char, *mut Handle) -> u32;
    duckdb_appender_add_column(Handle, *const c_char) -> u32;
    duckdb_appender_error(Handle) -> *const c_char;
    duckdb_append_data_chunk(Handle, Handle) -> u32;
    duckdb_appender_flush(Handle) -> u32;
    duckdb_appender_destroy(*mut Handle) -> u32;
}
