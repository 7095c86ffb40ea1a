//! One figure of a plan.

use std::fmt;

/// What a figure of a plan is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Quantity {
    /// Nodes, by the rate at which the tail of one departs from its floor.
    NodesByKnee,
    /// Nodes, by three quarters of the highest rate of one.
    NodesByHighestRate,
    /// Nodes, by the memory that one has for its KV cache.
    NodesByMemory,
    /// Nodes: the largest of the counts above.
    Nodes,
    /// The share of what those nodes can carry that the peak takes.
    Utilisation,
    /// The same with one node down.
    UtilisationWithoutOne,
    /// 1 − S/W, the utilisation of one exponential server that stretches its service so.
    UtilisationByStretch,
    /// Connections, workers or permits for all nodes together.
    Pool,
    /// The same for each node.
    PoolPerNode,
    /// Requests or sequences under way at once, in the mean.
    UnderWay,
    /// The share of the time during which more than the mean are under way.
    MoreThanMean,
    /// How many are under way at once, exceeded 1 % of the time.
    Room,
    /// Blocks of KV cache for that many.
    KvBlocks,
    /// Bytes of those blocks.
    KvBytes,
    /// Seconds after which a client should give up.
    Timeout,
}

impl Quantity {
    /// In what it is counted.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Quantity::Utilisation
            | Quantity::UtilisationWithoutOne
            | Quantity::UtilisationByStretch
            | Quantity::MoreThanMean => Unit::Share,
            Quantity::KvBytes => Unit::Bytes,
            Quantity::Timeout => Unit::Seconds,
            Quantity::NodesByKnee
            | Quantity::NodesByHighestRate
            | Quantity::NodesByMemory
            | Quantity::Nodes
            | Quantity::Pool
            | Quantity::PoolPerNode
            | Quantity::UnderWay
            | Quantity::Room
            | Quantity::KvBlocks => Unit::Count,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Quantity::NodesByKnee => "nodes, by the knee",
            Quantity::NodesByHighestRate => "nodes, by the highest rate",
            Quantity::NodesByMemory => "nodes, by memory",
            Quantity::Nodes => "nodes",
            Quantity::Utilisation => "busy at the peak",
            Quantity::UtilisationWithoutOne => "busy with one node down",
            Quantity::UtilisationByStretch => "busy, told by the stretch",
            Quantity::Pool => "pool, all nodes",
            Quantity::PoolPerNode => "pool, each node",
            Quantity::UnderWay => "under way, mean",
            Quantity::MoreThanMean => "time above that mean",
            Quantity::Room => "under way, 1 % exceed",
            Quantity::KvBlocks => "KV cache, blocks",
            Quantity::KvBytes => "KV cache, memory",
            Quantity::Timeout => "timeout of clients",
        })
    }
}

/// In what a value is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Unit {
    /// A number of things.
    Count,
    /// Arrivals per second.
    PerSecond,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A share of 1.
    Share,
}

/// A value that went into a formula.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Input {
    /// Its symbol in the formula.
    pub symbol: String,
    /// The value, in its unit.
    pub value: f64,
    /// In what it is counted.
    pub unit: Unit,
}

/// A figure of a plan, with its formula and what went into it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Item {
    /// What it is about.
    pub quantity: Quantity,
    /// The figure, in its unit.
    pub value: f64,
    /// In what it is counted.
    pub unit: Unit,
    /// How it was computed.
    pub formula: String,
    /// From what.
    pub inputs: Vec<Input>,
    /// What to know about it, in a sentence.
    pub why: String,
}

/// A figure that could not be told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Missing {
    /// What it is about.
    pub quantity: Quantity,
    /// What would have to be known.
    pub needs: String,
}
