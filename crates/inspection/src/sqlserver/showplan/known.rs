//! The names that the reader knows, and those in a plan that it does not.

use super::xml::{is, parts};
use roxmltree::Node;

/// Parts of a plan: its operators, and how it was made and run.
const PARTS: [&str; 14] = [
    "RelOp",
    "QueryTimeStats",
    "MemoryGrantInfo",
    "OptimizerHardwareDependentProperties",
    "OptimizerStatsUsage",
    "WaitStats",
    "ThreadStat",
    "TraceFlags",
    "MissingIndexes",
    "GuessedSelectivity",
    "UnmatchedIndexes",
    "ParameterList",
    "Warnings",
    "InternalInfo",
];

/// Elements of operators, by the schema of ShowPlan
/// (<https://schemas.microsoft.com/sqlserver/2004/07/showplan>): first what all have, then their
/// kinds.
const OPERATORS: &str = "OutputList Warnings MemoryFractions RunTimeInformation \
    RunTimePartitionSummary InternalInfo AdaptiveJoin Assert BatchHashTableBuild Bitmap Collapse \
    ComputeScalar Concat ConstantScan ConstTableScan CreateIndex DeletedScan Extension Filter \
    ForeignKeyReferencesCheck Generic Hash IndexScan InsertedScan LogRowScan Merge MergeInterval \
    Move NestedLoops OnlineIndex Parallelism ParameterTableScan PrintDataflow Put RemoteFetch \
    RemoteModify RemoteQuery RemoteRange RemoteScan RowCountSpool ScalarInsert Segment Sequence \
    SequenceProject SimpleUpdate Sort Split Spool StreamAggregate Switch TableScan \
    TableValuedFunction Top TopSort Update WindowSpool WindowAggregate XcsScan";

/// Attributes of operators.
const ATTRIBUTES: &str = "AvgRowSize EstimateCPU EstimateIO EstimateRebinds EstimateRewinds \
    EstimatedExecutionMode GroupExecuted EstimateRows EstimatedRowsRead \
    EstimateRowsWithoutRowGoal LogicalOp NodeId Parallel RemoteDataAccess Partitioned PhysicalOp \
    IsAdaptive AdaptiveThresholdRows EstimatedTotalSubtreeCost TableCardinality StatsCollectionId \
    EstimatedJoinType HyperScaleOptimizedQueryProcessing \
    HyperScaleOptimizedQueryProcessingUnusedReason PDWAccumulativeCost";

/// The names of elements and attributes that the reader does not know, each once.
pub fn unknown(plan: Node) -> Vec<String> {
    let is_of = |list: &str, name: &str| list.split_whitespace().any(|word| word == name);
    let names = plan.children().filter(Node::is_element).map(|node| node.tag_name().name());
    let mut all: Vec<String> =
        names.filter(|name| !PARTS.contains(name)).map(str::to_owned).collect();
    let operators = parts(plan, &["ScalarOperator"]);
    for operator in operators.into_iter().filter(|node| is(*node, "RelOp")) {
        let elements = operator.children().filter(Node::is_element);
        let elements = elements.map(|node| node.tag_name().name());
        all.extend(elements.filter(|name| !is_of(OPERATORS, name)).map(str::to_owned));
        let attributes = operator.attributes().map(|attribute| attribute.name().to_owned());
        all.extend(attributes.filter(|name| !is_of(ATTRIBUTES, name)));
    }
    all.sort();
    all.dedup();
    all
}
