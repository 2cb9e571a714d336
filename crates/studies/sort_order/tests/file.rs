//! Parquet files of users: what is read is what the rows are, and a damaged file is an error.

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use sort_order::file::{Advised, FileError, ParquetFile};
use sort_order::{Layout, Order, predict};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Writes a file in which `number` counts modulo 3, `real` has NULL and NaN, `text` has NULL, and
/// `list` is repeated.
fn written(path: &Path, rows: i32) {
    let schema = "message rows { required int32 number; optional double real; optional binary \
                  text (UTF8); repeated int32 list; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let numbers: Vec<i32> = (0..rows).map(|row| row % 3).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&numbers, None, None).unwrap();
    column.close().unwrap();
    let present: Vec<i16> = (0..rows).map(|row| i16::from(row % 4 != 0)).collect();
    let some = || (0..rows).filter(|row| row % 4 != 0);
    let reals: Vec<f64> =
        some().map(|row| if row % 5 == 0 { f64::NAN } else { f64::from(row % 7) }).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(&reals, Some(&present), None).unwrap();
    column.close().unwrap();
    let texts: Vec<ByteArray> =
        some().map(|row| ByteArray::from(format!("text {}", row % 11).as_str())).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&texts, Some(&present), None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let levels = vec![1_i16; rows as usize];
    column
        .typed::<Int32Type>()
        .write_batch(&numbers, Some(&levels), Some(&vec![0; rows as usize]))
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

/// The rows as the crate's own row reader prints them, the list cut off.
fn lines(path: &Path) -> Vec<String> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| {
        row.unwrap().to_string().split(", list").next().unwrap().trim_end_matches('}').to_owned()
    })
    .collect()
}

#[test]
fn rows_are_read_as_ranks_and_written_again_in_another_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    written(&path, 1000);
    let file = ParquetFile::read(&path, 1_000_000).unwrap();
    assert_eq!(
        (file.coded.rows, file.rows_all, &file.left_out[..]),
        (1000, 1000, &["list".to_owned()][..])
    );
    // 7 numbers, NaN and NULL; 11 texts and NULL.
    let distinct: Vec<usize> = file.coded.columns.iter().map(|column| column.distinct).collect();
    assert_eq!(distinct, [3, 9, 12]);
    let order = file.coded.ordered(&Order::By(vec![2, 0]));
    let again = folder.path().join("again.parquet");
    let bytes = file.write(&order, &mut File::create(&again).unwrap()).unwrap();
    assert_eq!((bytes.len(), bytes[0].len()), (1, 3));
    let all = lines(&path);
    let mut expected: Vec<u32> = (0..1000).collect();
    // NULL comes first, then texts as their bytes.
    let text = |row: u32| (!row.is_multiple_of(4)).then(|| format!("text {}", row % 11));
    expected.sort_by_key(|row| (text(*row), row % 3));
    let expected: Vec<String> =
        expected.iter().map(|row| all[*row as usize].trim_end().to_owned()).collect();
    let found: Vec<String> = lines(&again).iter().map(|line| line.trim_end().to_owned()).collect();
    assert_eq!(found, expected);
}

/// With all row groups looked at, what is predicted is what is then measured; and no other order of
/// three columns takes less than the advice by more than a tenth (all six are written).
#[test]
fn advice_is_close_to_the_best_of_all_orders() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    written(&path, 30_000);
    let file = ParquetFile::read(&path, 1_000_000).unwrap();
    let mut advised = Advised::for_file("rows".into(), &file, file.rows_all, &[]).unwrap();
    advised.measure(&file).unwrap();
    for order in advised.orders.iter().chain([&advised.generated]) {
        let measured = order.measured.as_ref().unwrap();
        assert!((order.predicted.bytes - measured.bytes as f64).abs() < 0.5, "{order:?}");
        assert!(
            measured.read_cpu_s.iter().all(|seconds| *seconds >= 0.0)
                && measured.read_cpu_s.len() == 5
        );
    }
    let layout = Layout { group_rows: 122_880, table_rows: 30_000, seed: 1 };
    let least = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(|key| {
        let mut store = |rows: Vec<u32>| file.write(&rows, &mut std::io::sink());
        predict(&file.coded, &Order::By(key.to_vec()), layout, &mut store).unwrap().bytes
    });
    let least = least.into_iter().fold(f64::MAX, f64::min);
    assert!(
        advised.orders[0].predicted.bytes <= 1.1 * least,
        "{} {least}",
        advised.orders[0].predicted.bytes
    );
    assert!(advised.orders[0].predicted.bytes < advised.generated.predicted.bytes);
}

/// An order of the user's is predicted and measured beside the advice, wherever it stands.
#[test]
fn an_order_of_the_users_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    written(&path, 2_000);
    let file = ParquetFile::read(&path, 1_000_000).unwrap();
    let names = |columns: &[usize]| -> Vec<String> {
        columns.iter().map(|at| file.coded.columns[*at].name.clone()).collect()
    };
    let orders = [names(&[1, 0])];
    let mut advised = Advised::for_file("rows".into(), &file, file.rows_all, &orders).unwrap();
    advised.keep(1);
    advised.measure(&file).unwrap();
    let found: Vec<_> = advised.orders.iter().filter(|order| order.columns == orders[0]).collect();
    assert!(found.len() == 1 && found[0].measured.is_some(), "{:?}", advised.orders);
    assert!(advised.orders.len() <= 2);
    for (wrong, says) in [("missing", "missing"), ("number,number", "given twice")] {
        let wrong = [wrong.split(',').map(str::to_owned).collect()];
        let error = Advised::for_file("rows".into(), &file, file.rows_all, &wrong).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
}

/// Files of another writer, in each method of compression that is in use.
#[test]
fn every_compression_of_parquet_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let script = "\
import sys, pyarrow as a, pyarrow.parquet as p
t = a.table({'number': [n % 7 for n in range(5000)], 'text': [str(n % 13) for n in range(5000)]})
for c in sys.argv[2:]: p.write_table(t, sys.argv[1] + '/' + c, compression=c)";
    let methods = ["none", "snappy", "gzip", "zstd", "brotli", "lz4"];
    let mut python = std::process::Command::new("python3");
    python.args(["-c", script]).arg(folder.path()).args(methods);
    if !python.output().is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: python3 with pyarrow is not installed");
        return;
    }
    for method in methods {
        let file = ParquetFile::read(&folder.path().join(method), 1_000_000).unwrap();
        let distinct: Vec<usize> =
            file.coded.columns.iter().map(|column| column.distinct).collect();
        assert_eq!((file.coded.rows, &distinct[..]), (5000, &[7, 13][..]), "{method}");
    }
}

#[test]
fn no_more_rows_are_read_than_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    written(&path, 1000);
    let file = ParquetFile::read(&path, 10).unwrap();
    assert_eq!((file.coded.rows, file.rows_all), (10, 1000));
}

/// Whatever is wrong with a file: an error, or the rows that it has, and neither a panic nor memory
/// without end.
#[test]
fn damaged_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    written(&path, 500);
    let whole = std::fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.parquet");
    let mut errors = 0;
    for number in 0..400_usize {
        let mut bytes = whole.clone();
        let place = number * 7919 % whole.len();
        match number % 4 {
            0 => bytes.truncate(place),
            1 => bytes[place] ^= 1 << (number % 8),
            2 => bytes[place] = 0xFF,
            _ => drop(
                bytes.splice(place..(place + 9).min(whole.len()), [0xFF, 0xFF, 0xFF, 0xFF, 0x0F]),
            ),
        }
        std::fs::write(&damaged, &bytes).unwrap();
        match ParquetFile::read(&damaged, 1_000_000) {
            Ok(file) => {
                assert!(
                    file.coded.columns.iter().all(|column| column.codes.len() == file.coded.rows)
                );
            }
            Err(
                FileError::Damaged { .. } | FileError::Nothing { .. } | FileError::TooLarge { .. },
            ) => {
                errors += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(errors > 100, "{errors}");
    assert!(matches!(ParquetFile::read(folder.path(), 10), Err(FileError::Io { .. })));
}

/// A page whose header says that it has 2 GiB is refused before memory is taken for it.
#[test]
fn a_page_that_asks_for_too_much_memory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    written(&path, 500);
    let mut bytes = std::fs::read(&path).unwrap();
    // The first page, a dictionary, follows the file's mark: field 1 (integer: 2), field 2
    // (integer) with its size.
    assert_eq!((&bytes[..4], &bytes[4..7]), (&b"PAR1"[..], &[0x15, 4, 0x15][..]));
    // 2^31 - 1, in Thrift's five bytes. The overwritten fields behind it are not read any more.
    bytes[7..12].copy_from_slice(&[0xFE, 0xFF, 0xFF, 0xFF, 0x0F]);
    std::fs::write(&path, &bytes).unwrap();
    let error = ParquetFile::read(&path, 1_000_000).err().unwrap().to_string();
    assert!(error.contains("column number: ") && error.contains("a page of 2047 MiB"), "{error}");
}
