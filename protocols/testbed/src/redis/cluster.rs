//! Several servers that share the slots of a cluster.

use super::{Redis, by_cli, free_port};
use std::io;
use std::process::Command;

/// A Redis cluster of primaries without replicas, the slots spread evenly over them.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<Redis>,
}

impl RedisCluster {
    /// Starts `nodes` servers (at least 3) and makes a cluster of them; returns once all of them agree that it is one.
    ///
    /// # Errors
    /// As [`Redis::start`].
    pub fn start(nodes: usize) -> io::Result<Self> {
        let start = |_| {
            let bus = free_port()?.to_string();
            Redis::start_with(&["--cluster-enabled", "yes", "--cluster-port", &bus])
        };
        let nodes = (0..nodes).map(start).collect::<io::Result<Vec<_>>>()?;
        let addresses = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port));
        let mut create = Command::new("redis-cli");
        create.args(["--cluster", "create"]).args(addresses);
        create.args(["--cluster-replicas", "0", "--cluster-yes"]);
        by_cli(&mut create)?;
        let cluster = RedisCluster { nodes };
        cluster.until_agreed()?;
        Ok(cluster)
    }

    /// Waits until every server says that the cluster serves: after the start, and after one has come back.
    ///
    /// # Errors
    /// Where one of them is down.
    pub fn until_agreed(&self) -> io::Result<()> {
        for node in &self.nodes {
            while !node.cli(&["cluster", "info"])?.contains("cluster_state:ok") {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Its servers, in the order of their slots.
    #[must_use]
    pub fn nodes(&self) -> &[Redis] {
        &self.nodes
    }

    /// Server number `number`, to be killed and restarted.
    ///
    /// # Panics
    /// Where there is none of that number.
    pub fn node_mut(&mut self, number: usize) -> &mut Redis {
        &mut self.nodes[number]
    }

    /// Where clients find it: the URL of its first server.
    #[must_use]
    pub fn url(&self) -> String {
        self.nodes.first().map(Redis::url).unwrap_or_default()
    }

    /// The id by which server number `node` is known inside the cluster.
    ///
    /// # Errors
    /// Where it cannot be asked.
    pub fn id_of(&self, node: usize) -> io::Result<String> {
        let node = self.nodes.get(node).ok_or(io::ErrorKind::NotFound)?;
        node.cli(&["cluster", "myid"])
    }

    /// Gives a slot, which must be empty, to server number `to`. Clients that do not know of it are told `MOVED`.
    ///
    /// # Errors
    /// Where a server refuses it.
    pub fn give_slot(&self, slot: u16, to: usize) -> io::Result<()> {
        let (slot, id) = (slot.to_string(), self.id_of(to)?);
        // The new owner first, so that at no time nobody owns it.
        let owner = self.nodes.get(to).into_iter();
        let others = self.nodes.iter().enumerate().filter(|(n, _)| *n != to);
        for node in owner.chain(others.map(|(_, node)| node)) {
            node.cli(&["cluster", "setslot", &slot, "node", &id])?;
        }
        Ok(())
    }

    /// Begins to move a slot from server number `from` to server number `to`, and goes no further: for keys that `from`
    /// does not have, it answers `ASK`.
    ///
    /// # Errors
    /// Where a server refuses it.
    pub fn begin_moving_slot(&self, slot: u16, from: usize, to: usize) -> io::Result<()> {
        let (slot, source, target) = (slot.to_string(), self.id_of(from)?, self.id_of(to)?);
        let node = |number: usize| self.nodes.get(number).ok_or(io::ErrorKind::NotFound);
        node(to)?.cli(&["cluster", "setslot", &slot, "importing", &source])?;
        node(from)?.cli(&["cluster", "setslot", &slot, "migrating", &target])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_tells_who_has_a_slot_and_who_will() {
        let cluster = RedisCluster::start(3).unwrap();
        // CRC16 of "foo" is slot 12182, which the last of three has.
        let [first, _, last] = cluster.nodes() else {
            panic!()
        };
        assert_eq!(last.cli(&["set", "foo", "1"]).unwrap(), "OK");
        let moved = first.cli(&["get", "foo"]).unwrap_err().to_string();
        let expected = format!("MOVED 12182 127.0.0.1:{}", last.port());
        assert!(moved.contains(&expected), "{moved}");
        // Slot 0 is of the first, until it is moving.
        cluster.begin_moving_slot(0, 0, 2).unwrap();
        let key = "06S"; // CRC16 is 0
        let told = first.cli(&["get", key]).unwrap_err().to_string();
        let expected = format!("ASK 0 127.0.0.1:{}", last.port());
        assert!(told.contains(&expected), "{told}");
        cluster.give_slot(0, 2).unwrap();
        assert_eq!(last.cli(&["get", key]).unwrap(), "");
    }
}
