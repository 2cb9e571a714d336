//! The steps of the five transactions in client logic (clauses 2.4.2, 2.5.2, 2.6.2, 2.7.4 and
//! 2.8.2): each asks the engine for one statement after the other.

use crate::input::{Customer, Input};
use crate::kind::Kind;
use crate::size::DISTRICTS;
use crate::statements::Query;
use engine::Results;
use work::Parameter;

/// The next step of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Begins a database transaction that writes.
    Begin,
    /// Begins one that only reads.
    BeginReading,
    /// Runs a statement with the parameters that the transaction holds.
    Ask(Query),
    /// Commits.
    Commit,
    /// Rolls back, which a new order with an unknown item wants.
    Rollback,
    /// The transaction is over.
    End,
}

/// A statement whose answer is not what the tables should hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{query:?} of {} returned no usable row; the tables are damaged", .kind.profile().name)]
pub struct Unusable {
    query: Query,
    kind: Kind,
}

/// The answer to a statement: how many rows, and the last one.
#[derive(Debug, Default)]
struct Answer {
    rows: u64,
    cells: Vec<Option<String>>,
}

/// How often the oldest order is looked for again after another delivery has taken it.
const LOOKS_MAX: u32 = 10;

/// A transaction in progress.
#[derive(Debug)]
pub struct Transaction {
    /// The values.
    pub input: Input,
    /// The time, as engines read it.
    pub time: String,
    /// Parameters of the statement that it asks for.
    pub parameters: Vec<Parameter>,
    /// Districts without an order to deliver.
    pub skipped: u64,
    query: Query,
    answer: Answer,
    /// The next step.
    place: u32,
    line: usize,
    district: i64,
    looks: u32,
    order: i64,
    customer: i64,
    /// Hundredths: a price, or the amount of an order.
    money: i64,
    /// Names that a later statement needs.
    texts: [String; 2],
}

impl Transaction {
    /// Begins with these values.
    pub fn new(input: Input, time: String) -> Self {
        Self {
            input,
            time,
            parameters: Vec::new(),
            skipped: 0,
            query: Query::Item,
            answer: Answer::default(),
            place: 0,
            line: 0,
            district: 1,
            looks: 0,
            order: 0,
            customer: 0,
            money: 0,
            texts: [String::new(), String::new()],
        }
    }

    /// Begins again with the same values.
    pub fn restart(&mut self) {
        (self.place, self.line, self.district, self.looks) = (0, 0, 1, 0);
        self.skipped = 0;
    }

    /// Takes the answer to the statement that it asked for.
    pub fn answer(&mut self, results: &Results) {
        self.answer.rows = results.rows;
        self.answer.cells.clone_from(&results.last);
    }

    /// Returns the next step.
    ///
    /// # Errors
    /// When an answer lacks what the transaction needs.
    pub fn advance(&mut self) -> Result<Move, Unusable> {
        let step = match self.input.kind {
            Kind::NewOrder => self.new_order(),
            Kind::Payment => self.payment(),
            Kind::OrderStatus => self.order_status(),
            Kind::Delivery => self.delivery(),
            Kind::StockLevel => self.stock_level(),
        }?;
        self.answer.rows = 0;
        if let Move::Ask(query) = step {
            self.query = query;
        }
        Ok(step)
    }

    fn new_order(&mut self) -> Result<Move, Unusable> {
        let Input { warehouse, district, .. } = self.input;
        self.place += 1;
        match self.place {
            1 => return Ok(Move::Begin),
            2 => {
                let Customer::Number(customer) = self.input.customer else {
                    return self.unusable();
                };
                self.customer = customer;
                return Ok(self.ask(Query::OrderCustomer, &[warehouse, district, customer]));
            }
            3 => return Ok(self.ask(Query::OrderDistrict, &[warehouse, district])),
            4 => {
                self.order = self.integer(0)?;
                return Ok(self.ask(Query::OrderNumber, &[warehouse, district]));
            }
            5 => {
                let numbers = [warehouse, district, self.order, self.customer];
                let lines = self.input.lines.len() as i64;
                let all_local = i64::from(self.input.remote_lines() == 0);
                self.ask(Query::Order, &numbers);
                self.parameters.push(Parameter::Text(self.time.clone()));
                self.parameters.extend([lines, all_local].map(Parameter::Integer));
                return Ok(Move::Ask(Query::Order));
            }
            6 => return Ok(self.ask(Query::Outstanding, &[warehouse, district, self.order])),
            _ => {}
        }
        self.new_order_line()
    }

    /// The four statements of each line, and the end.
    fn new_order_line(&mut self) -> Result<Move, Unusable> {
        let Some(line) = self.input.lines.get(self.line).copied() else {
            return Ok(self.commit_from(7));
        };
        match self.place {
            7 => Ok(self.ask(Query::Item, &[line.item])),
            8 if self.answer.rows == 0 => {
                // The item does not exist: the user has mistyped it.
                self.line = self.input.lines.len();
                self.place = 7;
                Ok(Move::Rollback)
            }
            8 => {
                self.money = self.money(0)?;
                let stock = Query::Stock(self.input.district as usize - 1);
                Ok(self.ask(stock, &[line.supplier, line.item]))
            }
            9 => {
                let left = self.integer(0)? - line.quantity;
                let left = if left >= 10 { left } else { left + 91 };
                self.texts[0] = self.text(2)?;
                let remote = i64::from(line.supplier != self.input.warehouse);
                let values = [left, line.quantity, remote, line.supplier, line.item];
                Ok(self.ask(Query::StockTaken, &values))
            }
            _ => {
                let number = self.line as i64 + 1;
                let Input { warehouse, district, .. } = self.input;
                let order = [warehouse, district, self.order, number];
                self.ask(Query::OrderLine, &order);
                let values = [line.item, line.supplier, line.quantity];
                self.parameters.extend(values.map(Parameter::Integer));
                self.parameters.push(amount(line.quantity * self.money));
                self.parameters.push(Parameter::Text(self.texts[0].clone()));
                (self.line, self.place) = (self.line + 1, 6);
                Ok(Move::Ask(Query::OrderLine))
            }
        }
    }

    /// Commits at this place, and ends behind it.
    fn commit_from(&mut self, place: u32) -> Move {
        if self.place == place { Move::Commit } else { Move::End }
    }

    fn payment(&mut self) -> Result<Move, Unusable> {
        let Input { warehouse, district, customer_of, .. } = self.input;
        let paid = amount(self.input.amount);
        self.place += 1;
        Ok(match self.place {
            1 => Move::Begin,
            2 => self.ask_with(Query::PaymentWarehouse, [paid], &[warehouse]),
            3 => self.ask(Query::PaymentWarehouseName, &[warehouse]),
            4 => {
                self.texts[0] = self.text(0)?;
                self.ask_with(Query::PaymentDistrict, [paid], &[warehouse, district])
            }
            5 => self.ask(Query::PaymentDistrictName, &[warehouse, district]),
            6 => {
                self.texts[1] = self.text(0)?;
                match self.find(Query::PaymentNamed, customer_of) {
                    Some(named) => named,
                    None => return self.payment(),
                }
            }
            7 => {
                self.found()?;
                self.ask(Query::PaymentCustomer, &[customer_of[0], customer_of[1], self.customer])
            }
            8 => self.credit(paid)?,
            9 => {
                let values = [self.customer, customer_of[1], customer_of[0], district, warehouse];
                self.ask(Query::Payment, &values);
                let data = format!("{}    {}", self.texts[0].trim_end(), self.texts[1].trim_end());
                self.parameters.extend([Parameter::Text(self.time.clone()), paid]);
                self.parameters.push(Parameter::Text(data));
                Move::Ask(Query::Payment)
            }
            _ => self.commit_from(10),
        })
    }

    /// The payment of a customer; one of bad credit gets its history into `c_data`.
    fn credit(&mut self, paid: Parameter) -> Result<Move, Unusable> {
        let Input { warehouse, district, customer_of: [home, home_district], .. } = self.input;
        let key = [home, home_district, self.customer];
        if self.text(0)?.trim_end() != "BC" {
            return Ok(self.ask_with(Query::PaymentGood, [paid.clone(), paid], &key));
        }
        let (whole, cents) = (self.input.amount / 100, self.input.amount % 100);
        let data = format!(
            "{} {home_district} {home} {district} {warehouse} {whole}.{cents:02} | {}",
            self.customer,
            self.text(1)?
        );
        let data = data.chars().take(500).collect();
        let values = [paid.clone(), paid, Parameter::Text(data)];
        Ok(self.ask_with(Query::PaymentBad, values, &key))
    }

    fn order_status(&mut self) -> Result<Move, Unusable> {
        let [warehouse, district] = self.input.customer_of;
        self.place += 1;
        Ok(match self.place {
            1 => Move::BeginReading,
            2 => match self.find(Query::StatusNamed, [warehouse, district]) {
                Some(named) => named,
                None => return self.order_status(),
            },
            3 => {
                self.found()?;
                self.ask(Query::StatusCustomer, &[warehouse, district, self.customer])
            }
            4 => self.ask(Query::StatusOrder, &[warehouse, district, self.customer]),
            5 => {
                self.order = self.integer(0)?;
                self.ask(Query::StatusLines, &[warehouse, district, self.order])
            }
            _ => self.commit_from(6),
        })
    }

    /// Asks for the customer with a last name; `None` where the number is known.
    fn find(&mut self, query: Query, [warehouse, district]: [i64; 2]) -> Option<Move> {
        match &self.input.customer {
            Customer::Number(number) => {
                self.customer = *number;
                None
            }
            Customer::LastName(name) => {
                let name = Parameter::Text(name.clone());
                self.ask(query, &[warehouse, district]);
                self.parameters.push(name);
                Some(Move::Ask(query))
            }
        }
    }

    /// Takes the number of the customer who was looked up by name.
    fn found(&mut self) -> Result<(), Unusable> {
        if matches!(self.input.customer, Customer::LastName(_)) {
            self.customer = self.integer(0)?;
        }
        Ok(())
    }

    /// All districts in one database transaction, so that it can be repeated as a whole.
    fn delivery(&mut self) -> Result<Move, Unusable> {
        let (warehouse, district, carrier) =
            (self.input.warehouse, self.district, self.input.number);
        self.place += 1;
        Ok(match self.place {
            1 => Move::Begin,
            2 if district > DISTRICTS => Move::Commit,
            3 if district > DISTRICTS => Move::End,
            2 => self.ask(Query::DeliveryOldest, &[warehouse, district]),
            3 if self.answer.rows == 0 => {
                self.place = 20;
                self.ask(Query::DeliveryLeft, &[warehouse, district])
            }
            3 => {
                self.order = self.integer(0)?;
                self.ask(Query::DeliveryTaken, &[warehouse, district, self.order])
            }
            4 => self.ask(Query::DeliveryOrder, &[warehouse, district, self.order]),
            5 => {
                self.customer = self.integer(0)?;
                self.ask(Query::DeliveryCarrier, &[carrier, warehouse, district, self.order])
            }
            6 => {
                let time = Parameter::Text(self.time.clone());
                let key = [warehouse, district, self.order];
                self.ask_with(Query::DeliveryLines, [time], &key)
            }
            7 => self.ask(Query::DeliveryAmount, &[warehouse, district, self.order]),
            8 => {
                let due = amount(self.money(0)?);
                let key = [warehouse, district, self.customer];
                (self.place, self.district, self.looks) = (1, district + 1, 0);
                self.ask_with(Query::DeliveryCustomer, [due], &key)
            }
            _ => {
                // Where the locked row was deleted by another delivery, an engine may answer with
                // none although there are others.
                self.looks += 1;
                if self.integer(0)? == 0 || self.looks == LOOKS_MAX {
                    self.skipped += 1;
                    (self.district, self.looks) = (district + 1, 0);
                }
                self.place = 1;
                return self.delivery();
            }
        })
    }

    fn stock_level(&mut self) -> Result<Move, Unusable> {
        let Input { warehouse, district, number: threshold, .. } = self.input;
        self.place += 1;
        Ok(match self.place {
            1 => self.ask(Query::LevelDistrict, &[warehouse, district]),
            2 => {
                let next = self.integer(0)?;
                let values = [warehouse, district, next - 20, next, threshold];
                self.ask(Query::LevelCount, &values)
            }
            _ => Move::End,
        })
    }

    fn ask(&mut self, query: Query, numbers: &[i64]) -> Move {
        self.ask_with(query, [], numbers)
    }

    /// Asks with these parameters, then the numbers.
    fn ask_with<const N: usize>(
        &mut self,
        query: Query,
        first: [Parameter; N],
        numbers: &[i64],
    ) -> Move {
        self.parameters.clear();
        self.parameters.extend(first);
        self.parameters.extend(numbers.iter().copied().map(Parameter::Integer));
        Move::Ask(query)
    }

    fn unusable<T>(&self) -> Result<T, Unusable> {
        Err(Unusable { query: self.query, kind: self.input.kind })
    }

    fn text(&self, column: usize) -> Result<String, Unusable> {
        let cell = self.answer.cells.get(column).filter(|_| self.answer.rows > 0);
        cell.cloned().flatten().map_or_else(|| self.unusable(), Ok)
    }

    fn integer(&self, column: usize) -> Result<i64, Unusable> {
        self.text(column)?.parse().or_else(|_| self.unusable())
    }

    /// Hundredths of an amount.
    fn money(&self, column: usize) -> Result<i64, Unusable> {
        let amount: f64 = self.text(column)?.parse().or_else(|_| self.unusable())?;
        Ok((amount * 100.0).round() as i64)
    }
}

/// An amount of hundredths as a parameter.
fn amount(hundredths: i64) -> Parameter {
    Parameter::Double(hundredths as f64 / 100.0)
}
