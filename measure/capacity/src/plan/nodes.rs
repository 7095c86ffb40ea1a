//! Nodes, and the memory that they need.

use super::steps::{Plan, count, rate};
use super::{Figures, Input, KvFigures, Quantity, Unit};
use crate::sizing::{KvCache, Nodes};
use crate::{CapacityError, check};

impl Plan {
    pub(super) fn memory(
        &mut self,
        figures: &Figures,
        room: Option<u64>,
    ) -> Result<(), CapacityError> {
        let Some(kv) = figures.kv else {
            return Ok(());
        };
        let Some(room) = room else {
            self.lacks(
                Quantity::KvBytes,
                "W, how long a sequence holds its blocks in the mean",
            );
            return Ok(());
        };
        let cache = KvCache::new(kv.shape, kv.block_tokens)?;
        let (blocks, bytes) = (
            cache.blocks(room, kv.sequence_tokens)?,
            cache.bytes(room, kv.sequence_tokens)?,
        );
        let inputs = [
            count("N", room as f64),
            count("T", kv.sequence_tokens as f64),
            count("b", f64::from(kv.block_tokens)),
        ];
        self.add(
            Quantity::KvBlocks,
            blocks as f64,
            "N ⌈T / b⌉",
            &inputs,
            "every sequence at its longest, no prefix shared: so none is preempted",
        );
        let block = cache.bytes(1, u64::from(kv.block_tokens))?;
        let each = Input {
            symbol: "bytes of a block".to_owned(),
            value: block as f64,
            unit: Unit::Bytes,
        };
        self.add(
            Quantity::KvBytes,
            bytes as f64,
            "blocks · bytes of a block",
            &[count("blocks", blocks as f64), each],
            "beside the weights of the model",
        );
        Ok(())
    }

    pub(super) fn nodes(
        &mut self,
        figures: &Figures,
        peak: f64,
        room: Option<u64>,
    ) -> Result<(), CapacityError> {
        if let (Some(knee), Some(highest)) = (figures.knee, figures.highest_rate) {
            // Refuses a knee above the highest rate.
            Nodes::new(peak, knee, highest)?;
        }
        let mut largest: Option<(u64, Quantity)> = None;
        let mut take = |nodes: u64, quantity| {
            if largest.is_none_or(|(most, _)| nodes > most) {
                largest = Some((nodes, quantity));
            }
        };
        if let Some(knee) = figures.knee {
            let nodes = Nodes::for_rate(peak, check::positive("the rate at the knee", knee)?)?;
            take(nodes, Quantity::NodesByKnee);
            let inputs = [rate("λ_peak", peak), rate("λ_knee", knee)];
            let why = figures.highest_rate.map_or(String::new(), |highest| {
                format!(
                    "the knee of a node lies at {:.2} of its highest rate",
                    knee / highest
                )
            });
            self.add(
                Quantity::NodesByKnee,
                nodes as f64,
                "⌈λ_peak / λ_knee⌉",
                &inputs,
                why,
            );
        } else {
            self.lacks(Quantity::NodesByKnee, "λ_knee, from a sweep of one node");
        }
        if let Some(highest) = figures.highest_rate {
            let highest = check::positive("the highest rate of a node", highest)?;
            let nodes = Nodes::for_rate(peak, Nodes::TARGET * highest)?;
            take(nodes, Quantity::NodesByHighestRate);
            self.add(
                Quantity::NodesByHighestRate,
                nodes as f64,
                "⌈λ_peak / (0.75 λ_max)⌉",
                &[rate("λ_peak", peak), rate("λ_max", highest)],
                "a quarter of every node is kept for bursts",
            );
        } else {
            self.lacks(
                Quantity::NodesByHighestRate,
                "λ_max, from a sweep of one node",
            );
        }
        if let (Some(kv), Some(room)) = (figures.kv, room)
            && let Some(nodes) = self.nodes_by_memory(kv, room)?
        {
            take(nodes, Quantity::NodesByMemory);
        }
        let Some((nodes, rule)) = largest else {
            self.lacks(Quantity::Nodes, "λ_knee or λ_max, from a sweep of one node");
            return Ok(());
        };
        let counts = [
            Quantity::NodesByKnee,
            Quantity::NodesByHighestRate,
            Quantity::NodesByMemory,
        ];
        let inputs: Vec<_> = counts
            .into_iter()
            .filter_map(|quantity| Some(count(&quantity.to_string(), self.value(quantity)?)))
            .collect();
        let why = match inputs.len() {
            1 => format!("one rule alone, {rule}: measure what the other needs"),
            _ => format!("decided by: {rule}"),
        };
        self.add(
            Quantity::Nodes,
            nodes as f64,
            "the largest count",
            &inputs,
            why,
        );
        if let Some(highest) = figures.highest_rate {
            self.busy(peak, nodes as f64, highest);
        }
        Ok(())
    }

    fn nodes_by_memory(&mut self, kv: KvFigures, room: u64) -> Result<Option<u64>, CapacityError> {
        let Some(memory) = kv.bytes_per_node else {
            self.lacks(
                Quantity::NodesByMemory,
                "the bytes that a node has for its KV cache",
            );
            return Ok(None);
        };
        let cache = KvCache::new(kv.shape, kv.block_tokens)?;
        let sequence = cache.bytes(1, kv.sequence_tokens)?;
        let held = memory.checked_div(sequence).unwrap_or(u64::MAX);
        if held == 0 {
            return Err(CapacityError::Contradiction {
                larger: "the memory of a node for its KV cache",
                larger_value: memory as f64,
                smaller: "the bytes of one sequence",
                smaller_value: sequence as f64,
                remedy: "take larger nodes, shorter sequences or fewer bits, or count several GPUs as one node",
            });
        }
        let nodes = room.div_ceil(held);
        self.add(
            Quantity::NodesByMemory,
            nodes as f64,
            "⌈N / n⌉",
            &[count("N", room as f64), count("n", held as f64)],
            format!("a node holds n = {held} sequences; a balancer has to spread them evenly"),
        );
        Ok(Some(nodes))
    }

    fn busy(&mut self, peak: f64, nodes: f64, highest: f64) {
        let inputs = |nodes| {
            [
                rate("λ_peak", peak),
                count("n", nodes),
                rate("λ_max", highest),
            ]
        };
        let share = peak / (nodes * highest);
        self.add(
            Quantity::Utilisation,
            share,
            "λ_peak / (n λ_max)",
            &inputs(nodes),
            "",
        );
        if nodes < 2.0 {
            return;
        }
        let left = nodes - 1.0;
        let share = peak / (left * highest);
        let why = if share < 1.0 {
            ""
        } else {
            "without one node the peak cannot be served"
        };
        self.add(
            Quantity::UtilisationWithoutOne,
            share,
            "λ_peak / (n λ_max)",
            &inputs(left),
            why,
        );
    }
}
