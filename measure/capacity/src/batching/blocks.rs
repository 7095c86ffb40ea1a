//! The blocks of one engine: who uses them, and what they hold.

use std::collections::{BTreeSet, HashMap};

#[derive(Clone, Debug, Default)]
struct Block {
    users: u32,
    /// What it holds, where that is known and complete.
    hash: Option<u64>,
    /// When it was last used, for those that hold something; 0 for those that do not, which are taken first.
    last_used: u64,
}

/// All blocks; each is used, or idle, and then it may be cached.
#[derive(Debug)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    /// Who holds what, used or idle.
    cached: HashMap<u64, u32>,
    /// By last use.
    idle: BTreeSet<(u64, u32)>,
    clock: u64,
}

impl Blocks {
    pub(super) fn new(count: u32) -> Self {
        Blocks {
            blocks: vec![Block::default(); count as usize],
            cached: HashMap::new(),
            idle: (0..count).map(|id| (0, id)).collect(),
            clock: 0,
        }
    }

    /// Blocks that nobody uses.
    pub(super) fn idle(&self) -> u32 {
        self.idle.len() as u32
    }

    /// Blocks that somebody uses.
    pub(super) fn used(&self) -> u32 {
        self.blocks.len() as u32 - self.idle()
    }

    /// Blocks whose content can be found, used or idle.
    pub(super) fn cached(&self) -> u32 {
        self.cached.len() as u32
    }

    /// The blocks that hold the first of these, up to the first that is missing.
    pub(super) fn leading(&self, hashes: &[u64]) -> Vec<u32> {
        hashes
            .iter()
            .map_while(|hash| self.cached.get(hash).copied())
            .collect()
    }

    /// How many of these blocks are idle.
    pub(super) fn idle_among(&self, ids: &[u32]) -> u32 {
        ids.iter()
            .filter(|&&id| self.blocks[id as usize].users == 0)
            .count() as u32
    }

    /// Uses a block for what it holds.
    pub(super) fn share(&mut self, id: u32) {
        let block = &mut self.blocks[id as usize];
        if block.users == 0 {
            self.idle.remove(&(block.last_used, id));
        }
        block.users += 1;
    }

    /// Uses another block, whose content is lost: the one that was used the longest time ago.
    pub(super) fn take(&mut self) -> Option<u32> {
        let (_, id) = self.idle.pop_first()?;
        let block = &mut self.blocks[id as usize];
        if let Some(hash) = block.hash.take() {
            self.cached.remove(&hash);
        }
        block.users = 1;
        Some(id)
    }

    /// Says what a used block holds. Where another holds the same, it is that one which is found.
    pub(super) fn fill(&mut self, id: u32, hash: u64) {
        let block = &mut self.blocks[id as usize];
        if block.hash.is_none() && !self.cached.contains_key(&hash) {
            block.hash = Some(hash);
            self.cached.insert(hash, id);
        }
    }

    /// Uses the blocks of a sequence no more, the last first: prefixes are more often of use.
    pub(super) fn release(&mut self, table: &[u32]) {
        for &id in table.iter().rev() {
            let block = &mut self.blocks[id as usize];
            block.users -= 1;
            if block.users == 0 {
                self.clock += 1;
                block.last_used = if block.hash.is_some() { self.clock } else { 0 };
                self.idle.insert((block.last_used, id));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Blocks {
        /// Every block is idle or used, never both, and everything that can be found is where it is said to be.
        fn assert_conserved(&self, tables: &[Vec<u32>]) {
            let mut users = vec![0; self.blocks.len()];
            for id in tables.iter().flatten() {
                users[*id as usize] += 1;
            }
            for (id, (block, users)) in (0_u32..).zip(self.blocks.iter().zip(users)) {
                assert_eq!(block.users, users, "block {id}");
                assert_eq!(
                    self.idle.contains(&(block.last_used, id)),
                    users == 0,
                    "block {id}"
                );
                if let Some(hash) = block.hash {
                    assert_eq!(self.cached[&hash], id);
                }
            }
            assert_eq!(self.idle() + self.used(), self.blocks.len() as u32);
            let known = self
                .blocks
                .iter()
                .filter(|block| block.hash.is_some())
                .count();
            assert_eq!(self.cached() as usize, known);
        }
    }

    #[test]
    fn what_was_used_longest_ago_goes_first_and_of_a_sequence_its_end() {
        let mut blocks = Blocks::new(4);
        let first = [blocks.take().unwrap(), blocks.take().unwrap()];
        blocks.fill(first[0], 10);
        blocks.fill(first[1], 11);
        let second = blocks.take().unwrap();
        blocks.fill(second, 20);
        blocks.release(&[second]);
        blocks.release(&first);
        // The one that holds nothing, then 20, which was released first, then the end of the other.
        for left in [vec![10, 11, 20], vec![10, 11], vec![10], vec![]] {
            blocks.take().unwrap();
            let mut found: Vec<_> = blocks.cached.keys().copied().collect();
            found.sort_unstable();
            assert_eq!(found, left);
        }
        assert_eq!(blocks.take(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn blocks_are_conserved(moves in prop::collection::vec((0_u8..4, 0_u64..12), 1..200)) {
            let mut blocks = Blocks::new(8);
            let mut tables: Vec<Vec<u32>> = Vec::new();
            for (what, number) in moves {
                match what {
                    0 => tables.extend(blocks.take().map(|id| {
                        blocks.fill(id, number);
                        vec![id]
                    })),
                    1 => {
                        let found = blocks.leading(&[number, number + 1]);
                        found.iter().for_each(|&id| blocks.share(id));
                        tables.push(found);
                    }
                    2 => {
                        if let Some(id) = blocks.take() {
                            match tables.last_mut() {
                                Some(table) => table.push(id),
                                None => tables.push(vec![id]),
                            }
                        }
                    }
                    _ if tables.is_empty() => {}
                    _ => {
                        let table = tables.swap_remove(number as usize % tables.len());
                        blocks.release(&table);
                    }
                }
                blocks.assert_conserved(&tables);
            }
        }
    }
}
