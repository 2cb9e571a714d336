//! The tables of TPC-DS and their rows, which the crate `tpcdsgen` makes as the council's `dsdgen`
//! does: a star of seven fact tables and 17 dimensions.

use crate::{BATCH_ROWS, Batches, MakeBatches, Part};
use std::fmt::{Display, Write as _};
use tpcdsgen::config::{Scaling, Session, SessionBuilder, Table as Kind};
use tpcdsgen::csv::{self, CsvRow as _};
use tpcdsgen::row;
use work::DataType::{self, BigInt, Date, Decimal, Int, Varchar};
use work::{Column, Rows, Storage, Table, Texts, Values};

/// Returns all tables, sales in shops first.
pub(crate) fn parts(scale: f64) -> Vec<Part> {
    TABLES.iter().map(|table| (table.part)(table, scale)).collect()
}

/// Returns the rows of a table, about: how many lines a sale has is drawn.
pub(crate) fn rows(table: &str, scale: f64) -> u64 {
    let scaling = Scaling::new(scale);
    TABLES.iter().find(|known| known.kind.get_name() == table).map_or(0, |known| {
        (scaling.get_row_count(known.kind) as f64 * known.lines_of_a_sale) as u64
    })
}

/// A table after the specification (2.2 to 2.4).
struct Declaration {
    kind: Kind,
    key: &'static [&'static str],
    /// Types of its columns, as [`types`] reads them.
    types: &'static str,
    /// Rows for each row of the generator, on average.
    lines_of_a_sale: f64,
    part: fn(&'static Declaration, f64) -> Part,
}

/// Sales, customers and so on that are made by one thread in a row.
const PIECE: u64 = 16_384;
const PIECES_MAX: u64 = 10_000;

macro_rules! tables {
    ($($kind:ident, $generator:ident, $csv:ident, $key:expr, $lines:expr, $types:expr;)*) => {
        static TABLES: &[Declaration] = &[$(Declaration {
            kind: Kind::$kind,
            key: &$key,
            types: $types,
            lines_of_a_sale: $lines,
            part: |declared, scale| declared.part(scale, csv::$csv::header(), |columns, piece| {
                let mut rows = row::$generator::new(session(piece.scale), piece.last);
                rows.set_source_row_range(piece.first, piece.last);
                batches(columns, rows)
            }),
        }),*];
    };
}

/// Rows of a generator, numbered from 1; the last one is among them.
#[derive(Clone, Copy)]
struct Piece {
    scale: f64,
    first: u64,
    last: u64,
}

tables! {
    StoreSales, StoreSalesRowGenerator, StoreSalesCsv,
        ["ss_item_sk", "ss_ticket_number"], 12.0, "i*9 b i d*12";
    StoreReturns, StoreReturnsRowGenerator, StoreReturnsCsv,
        ["sr_item_sk", "sr_ticket_number"], 1.2, "i*9 b i d*9";
    CatalogSales, CatalogSalesRowGenerator, CatalogSalesCsv,
        ["cs_item_sk", "cs_order_number"], 9.0, "i*17 b i d*15";
    CatalogReturns, CatalogReturnsRowGenerator, CatalogReturnsCsv,
        ["cr_item_sk", "cr_order_number"], 0.9, "i*16 b i d*9";
    WebSales, WebSalesRowGenerator, WebSalesCsv,
        ["ws_item_sk", "ws_order_number"], 12.0, "i*17 b i d*15";
    WebReturns, WebReturnsRowGenerator, WebReturnsCsv,
        ["wr_item_sk", "wr_order_number"], 1.2, "i*13 b i d*9";
    Inventory, InventoryRowGenerator, InventoryCsv,
        ["inv_date_sk", "inv_item_sk", "inv_warehouse_sk"], 1.0, "i*4";
    CallCenter, CallCenterRowGenerator, CallCenterCsv, ["cc_call_center_sk"], 1.0,
        "i 16 D*2 i*2 50*2 i*2 20 40 i 50 100 40 i 50 i 50 10 60 15 10 60 30 2 10 20 d*2";
    CatalogPage, CatalogPageRowGenerator, CatalogPageCsv, ["cp_catalog_page_sk"], 1.0,
        "i 16 i*2 50 i*2 100*2";
    Customer, CustomerRowGenerator, CustomerCsv, ["c_customer_sk"], 1.0,
        "i 16 i*5 10 20 30 1 i*3 20 13 50 i";
    CustomerAddress, CustomerAddressRowGenerator, CustomerAddressCsv, ["ca_address_sk"], 1.0,
        "i 16 10 60 15 10 60 30 2 10 20 d 20";
    CustomerDemographics, CustomerDemographicsRowGenerator, CustomerDemographicsCsv,
        ["cd_demo_sk"], 1.0, "i 1 1 20 i 10 i*3";
    DateDim, DateDimRowGenerator, DateDimCsv, ["d_date_sk"], 1.0,
        "i 16 D i*11 9 6 1*3 i*4 1*5";
    HouseholdDemographics, HouseholdDemographicsRowGenerator, HouseholdDemographicsCsv,
        ["hd_demo_sk"], 1.0, "i*2 15 i*2";
    IncomeBand, IncomeBandRowGenerator, IncomeBandCsv, ["ib_income_band_sk"], 1.0, "i*3";
    Item, ItemRowGenerator, ItemCsv, ["i_item_sk"], 1.0,
        "i 16 D*2 200 d*2 i 50 i 50 i 50 i 50 20*3 10*2 i 50";
    Promotion, PromotionRowGenerator, PromotionCsv, ["p_promo_sk"], 1.0,
        "i 16 i*3 d i 50 1*8 100 15 1";
    Reason, ReasonRowGenerator, ReasonCsv, ["r_reason_sk"], 1.0, "i 16 100";
    ShipMode, ShipModeRowGenerator, ShipModeCsv, ["sm_ship_mode_sk"], 1.0, "i 16 30 10 20*2";
    Store, StoreRowGenerator, StoreCsv, ["s_store_sk"], 1.0,
        "i 16 D*2 i 50 i*2 20 40 i 100*2 40 i 50 i 50 10 60 15 10 60 30 2 10 20 d*2";
    TimeDim, TimeDimRowGenerator, TimeDimCsv, ["t_time_sk"], 1.0, "i 16 i*4 2 20*3";
    Warehouse, WarehouseRowGenerator, WarehouseCsv, ["w_warehouse_sk"], 1.0,
        "i 16 20 i 10 60 15 10 60 30 2 10 20 d";
    WebPage, WebPageRowGenerator, WebPageCsv, ["wp_web_page_sk"], 1.0,
        "i 16 D*2 i*2 1 i 100 50 i*4";
    WebSite, WebSiteRowGenerator, WebSiteCsv, ["web_site_sk"], 1.0,
        "i 16 D*2 50 i*2 50 40 i 50 100 40 i 50 10 60 15 10 60 30 2 10 20 d*2";
}

/// Types of columns: `i` and `b` whole numbers of 32 and 64 bits, `d` a decimal, `D` a date, a
/// number a text of at most as many characters; `*N`: N such columns. Texts of a fixed length have
/// no blanks at their ends, because engines compare such blanks differently.
fn types(declared: &str) -> impl Iterator<Item = DataType> {
    declared.split(' ').flat_map(|part| {
        let (word, count) = part.split_once('*').unwrap_or((part, "1"));
        let data_type = match word {
            "i" => Int,
            "b" => BigInt,
            "d" => Decimal,
            "D" => Date,
            characters => Varchar(characters.parse().unwrap_or(u16::MAX)),
        };
        std::iter::repeat_n(data_type, count.parse().unwrap_or(1))
    })
}

impl Declaration {
    fn part(
        &self,
        scale: f64,
        header: &'static str,
        make: fn(Vec<Column>, Piece) -> Batches,
    ) -> Part {
        let columns: Vec<Column> = header
            .split(',')
            .zip(types(self.types))
            .map(|(name, data_type)| match Column::new(name, data_type) {
                column if self.key.contains(&name) => column,
                column => column.nullable(),
            })
            .collect();
        let storage = Storage { key_after_fill: true, ..Storage::default() };
        let batches = self.pieces(scale).map(|piece| -> MakeBatches {
            let columns = columns.clone();
            Box::new(move || make(columns, piece))
        });
        Part {
            batches: batches.collect(),
            columns: columns.iter().map(|column| column.name).collect(),
            table: Table { name: self.kind.get_name(), columns, key: self.key, storage },
        }
    }

    /// Cuts the rows of the generator into pieces that can be made at the same time. The versions
    /// of a row of a dimension that keeps its history follow from each other: one piece.
    fn pieces(&self, scale: f64) -> impl Iterator<Item = Piece> + use<> {
        let all = Scaling::new(scale).get_row_count(self.kind);
        let of = (all / PIECE).clamp(1, if self.kind.keeps_history() { 1 } else { PIECES_MAX });
        (1..=of).map(move |number| Piece {
            scale,
            first: all * (number - 1) / of + 1,
            last: all * number / of,
        })
    }
}

fn session(scale: f64) -> Session {
    // Settings are checked before: an invalid scale does not get here.
    SessionBuilder::new().with_scale_factor(scale).build().unwrap_or_default()
}

/// Reads rows, which are written as lines of `dsdgen`, in batches of columns.
fn batches(
    columns: Vec<Column>,
    mut rows: impl Iterator<Item = impl Display> + Send + 'static,
) -> Batches {
    let mut line = String::new();
    Box::new(std::iter::from_fn(move || {
        let mut cells: Vec<Cells> = columns.iter().map(Cells::new).collect();
        let mut count = 0;
        for row in rows.by_ref().take(BATCH_ROWS) {
            line.clear();
            // Writing to memory cannot fail.
            let _ = write!(line, "{row}");
            cells.iter_mut().zip(line.split('|')).for_each(|(cells, cell)| cells.push(cell));
            count += 1;
        }
        let columns = cells.into_iter().map(Cells::into_values).collect();
        (count > 0).then_some(Rows { count, columns })
    }))
}

/// The cells of a column in a batch.
struct Cells {
    values: Values,
    /// `None` of a column of the key.
    nulls: Option<Vec<bool>>,
}

impl Cells {
    fn new(column: &Column) -> Self {
        let values = match column.data_type {
            Int | BigInt => Values::Integers(Vec::with_capacity(BATCH_ROWS)),
            Decimal => Values::Decimals(Vec::with_capacity(BATCH_ROWS)),
            Date => Values::Dates(Vec::with_capacity(BATCH_ROWS)),
            _ => Values::Texts(Texts::default()),
        };
        Self { values, nulls: column.nullable.then(|| Vec::with_capacity(BATCH_ROWS)) }
    }

    /// Adds a cell. `dsdgen` leaves a NULL empty, and names it in two of its tables.
    fn push(&mut self, cell: &str) {
        let cell = if cell == "NULL" { "" } else { cell };
        match &mut self.values {
            Values::Integers(numbers) => numbers.push(cell.parse().unwrap_or(0)),
            Values::Decimals(numbers) => numbers.push(hundredths(cell)),
            Values::Dates(days) => days.push(work::day(cell).unwrap_or(0)),
            Values::Texts(texts) => texts.push(cell),
            _ => {}
        }
        if let Some(nulls) = &mut self.nulls {
            nulls.push(cell.is_empty());
        }
    }

    fn into_values(self) -> Values {
        match self.nulls {
            Some(nulls) => Values::Nullable { values: self.values.into(), nulls },
            None => self.values,
        }
    }
}

/// Reads a decimal of at most two decimal places; 0 if it is none.
fn hundredths(cell: &str) -> i64 {
    let (digits, is_negative) = cell.strip_prefix('-').map_or((cell, false), |rest| (rest, true));
    let (whole, parts) = digits.split_once('.').unwrap_or((digits, ""));
    let parts = format!("{parts:0<2}");
    let size = whole.parse::<i64>().unwrap_or(0) * 100 + parts.parse::<i64>().unwrap_or(0);
    if is_negative { -size } else { size }
}
