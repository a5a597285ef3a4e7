//! The five tables and their columns.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of four bytes; `lo_orderkey` has eight where four do not suffice.
    Integer,
    /// Text; SSB's fixed text too, without filling blanks.
    Text,
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name in the paper.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// A table of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Customers.
    Customer,
    /// Parts.
    Part,
    /// Suppliers.
    Supplier,
    /// Days.
    Date,
    /// The fact table: the lines of orders.
    Lineorder,
}

impl Table {
    /// The tables, the dimensions first.
    pub const ALL: [Self; 5] =
        [Self::Customer, Self::Part, Self::Supplier, Self::Date, Self::Lineorder];

    /// The table's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Part => "part",
            Self::Supplier => "supplier",
            Self::Date => "date",
            Self::Lineorder => "lineorder",
        }
    }

    /// The table of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The columns in order.
    #[must_use]
    pub fn columns(self) -> &'static [Column] {
        match self {
            Self::Customer => &CUSTOMER,
            Self::Part => &PART,
            Self::Supplier => &SUPPLIER,
            Self::Date => &DATE,
            Self::Lineorder => &LINEORDER,
        }
    }
}

const fn integer(name: &'static str) -> Column {
    Column { name, kind: Kind::Integer }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text }
}

const CUSTOMER: [Column; 8] = [
    integer("c_custkey"),
    text("c_name"),
    text("c_address"),
    text("c_city"),
    text("c_nation"),
    text("c_region"),
    text("c_phone"),
    text("c_mktsegment"),
];

const PART: [Column; 9] = [
    integer("p_partkey"),
    text("p_name"),
    text("p_mfgr"),
    text("p_category"),
    text("p_brand1"),
    text("p_color"),
    text("p_type"),
    integer("p_size"),
    text("p_container"),
];

const SUPPLIER: [Column; 7] = [
    integer("s_suppkey"),
    text("s_name"),
    text("s_address"),
    text("s_city"),
    text("s_nation"),
    text("s_region"),
    text("s_phone"),
];

const DATE: [Column; 17] = [
    integer("d_datekey"),
    text("d_date"),
    text("d_dayofweek"),
    text("d_month"),
    integer("d_year"),
    integer("d_yearmonthnum"),
    text("d_yearmonth"),
    integer("d_daynuminweek"),
    integer("d_daynuminmonth"),
    integer("d_daynuminyear"),
    integer("d_monthnuminyear"),
    integer("d_weeknuminyear"),
    text("d_sellingseason"),
    text("d_lastdayinweekfl"),
    text("d_lastdayinmonthfl"),
    text("d_holidayfl"),
    text("d_weekdayfl"),
];

const LINEORDER: [Column; 17] = [
    integer("lo_orderkey"),
    integer("lo_linenumber"),
    integer("lo_custkey"),
    integer("lo_partkey"),
    integer("lo_suppkey"),
    integer("lo_orderdate"),
    text("lo_orderpriority"),
    text("lo_shippriority"),
    integer("lo_quantity"),
    integer("lo_extendedprice"),
    integer("lo_ordtotalprice"),
    integer("lo_discount"),
    integer("lo_revenue"),
    integer("lo_supplycost"),
    integer("lo_tax"),
    integer("lo_commitdate"),
    text("lo_shipmode"),
];
