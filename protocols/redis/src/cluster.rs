//! A cluster: the map of its slots, and its redirections.

use crate::builder::NodeMaker;
use crate::node::Node;
use crate::reply::error_in;
use crate::request::{Commands, is_transaction};
use crate::slot::{self, Address, SLOTS};
use crate::{RedisErrorKind, Stages};
use futures_util::future::join_all;
use parking_lot::RwLock;
use redis::{Cmd, Pipeline, ServerErrorKind, Value};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::time::Instant;

/// Redirections that one command follows: more of them means that the cluster contradicts itself.
const HOPS: u32 = 5;

/// A cluster as far as it is known. Redirections change the map; a node that cannot be reached makes it doubtful, and
/// then the next call asks for it anew.
///
/// The library has a client for clusters. It follows redirections, tries again and opens connections inside one call,
/// and none of that can be seen from outside, which is what has to be seen here.
#[derive(Debug)]
pub(crate) struct Cluster {
    maker: NodeMaker,
    map: RwLock<Map>,
    is_doubtful: AtomicBool,
    /// Held by the one who asks for the map.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Map {
    nodes: HashMap<Address, Arc<Node>>,
    /// Of each slot, its owner.
    owners: Vec<Option<Owner>>,
}

#[derive(Clone, Debug)]
struct Owner {
    address: Address,
    node: Arc<Node>,
}

impl Cluster {
    pub(crate) fn new(maker: NodeMaker) -> Self {
        Cluster {
            maker,
            map: RwLock::default(),
            is_doubtful: AtomicBool::new(true),
            asking: tokio::sync::Mutex::default(),
        }
    }

    /// Learns the map and opens the connections of every node.
    pub(crate) async fn prepare(&self) -> Result<(), RedisErrorKind> {
        self.learn(&mut Stages::default()).await?;
        let nodes: Vec<_> = self.map.read().nodes.values().cloned().collect();
        for node in nodes {
            node.prepare().await?;
        }
        Ok(())
    }

    /// One call, redirections included, its stages filled in as far as it comes.
    pub(crate) async fn call(
        &self,
        commands: &Commands,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        if self.is_doubtful.load(Ordering::Acquire) {
            self.learn(stages).await?;
        }
        match commands {
            Commands::Several(pipeline) if !is_transaction(pipeline) => {
                self.spread(commands, pipeline, stages).await
            }
            Commands::Several(transaction) => {
                let first = transaction
                    .cmd_iter()
                    .find(|command| slot::key_of(command).is_some());
                let owner = self.owner_of(first)?;
                let value = self.ask_node(&owner, commands, false, stages).await?;
                // What it has done cannot be told from here, so that it is not sent again.
                if let Some(redirection) = Redirection::of(&value, &owner.address.0) {
                    self.note(redirection, stages)?;
                }
                Ok(value)
            }
            Commands::One(command) | Commands::Scripted(command, _) => {
                let owner = self.owner_of(Some(command))?;
                let value = self.ask_node(&owner, commands, false, stages).await?;
                self.follow(commands, &owner, value, stages).await
            }
        }
    }

    /// Each command of a pipeline to its node, all nodes at once, and then those that are redirected, one by one: a node
    /// that redirects a command has not carried it out.
    async fn spread(
        &self,
        commands: &Commands,
        pipeline: &Pipeline,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        let owners = pipeline
            .cmd_iter()
            .map(|command| self.owner_of(Some(command)));
        let owners = owners.collect::<Result<Vec<_>, _>>()?;
        let mut parts: Vec<(&Owner, Vec<usize>)> = Vec::new();
        for (number, owner) in owners.iter().enumerate() {
            let part = parts
                .iter_mut()
                .find(|(other, _)| other.address == owner.address);
            match part {
                Some((_, numbers)) => numbers.push(number),
                None => parts.push((owner, vec![number])),
            }
        }
        let mut replies = vec![Value::Nil; owners.len()];
        if let [(owner, _)] = parts.as_slice() {
            let answered = self.ask_node(owner, commands, false, stages).await?;
            replies = several(answered, owners.len())?;
        } else {
            let asked = parts.iter().map(async |(owner, numbers)| {
                let mut own = redis::pipe();
                for command in numbers.iter().filter_map(|n| pipeline.cmd_iter().nth(*n)) {
                    own.add_command(command.clone());
                }
                let mut stages = Stages::default();
                let own = Commands::Several(own);
                let answered = self.ask_node(owner, &own, false, &mut stages).await;
                (answered, stages)
            });
            let answered = join_all(asked).await;
            let before = std::mem::take(&mut stages.acquire);
            for (_, own) in &answered {
                stages.join(own);
            }
            stages.acquire += before;
            for ((_, numbers), (answered, _)) in parts.iter().zip(answered) {
                let own = several(answered?, numbers.len())?;
                for (number, reply) in numbers.iter().zip(own) {
                    replies[*number] = reply;
                }
            }
        }
        for ((reply, owner), command) in replies.iter_mut().zip(&owners).zip(pipeline.cmd_iter()) {
            if Redirection::of(reply, &owner.address.0).is_some() {
                let command = Commands::One(command.clone());
                let redirected = std::mem::replace(reply, Value::Nil);
                *reply = self.follow(&command, owner, redirected, stages).await?;
            }
        }
        Ok(Value::Array(replies))
    }

    /// What comes of a command in the end whose first answer, by `owner`, may redirect it.
    async fn follow(
        &self,
        command: &Commands,
        owner: &Owner,
        mut value: Value,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        let mut answered_by = owner.clone();
        for _ in 0..HOPS {
            let Some(redirection) = Redirection::of(&value, &answered_by.address.0) else {
                break;
            };
            let is_for_once = redirection.is_for_once;
            answered_by = self.note(redirection, stages)?;
            value = self
                .ask_node(&answered_by, command, is_for_once, stages)
                .await?;
        }
        Ok(value)
    }

    /// Counts a redirection and remembers it if it is for good; says where it leads.
    fn note(&self, redirection: Redirection, stages: &mut Stages) -> Result<Owner, RedisErrorKind> {
        let to = self.owner_at(redirection.address)?;
        if redirection.is_for_once {
            stages.asked += 1;
        } else {
            stages.moved += 1;
            self.map.write().set(redirection.slot, to.clone());
        }
        Ok(to)
    }

    async fn ask_node(
        &self,
        owner: &Owner,
        commands: &Commands,
        asking: bool,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        let answered = owner.node.call(commands, asking, stages).await;
        answered.inspect_err(|kind| self.doubt(kind))
    }

    /// A node that cannot be reached may be one no longer.
    fn doubt(&self, kind: &RedisErrorKind) {
        if !matches!(
            kind,
            RedisErrorKind::PoolFull(_) | RedisErrorKind::Client(_)
        ) {
            self.is_doubtful.store(true, Ordering::Release);
        }
    }

    /// Where a command is to go: to the owner of its first key, or anywhere.
    fn owner_of(&self, command: Option<&Cmd>) -> Result<Owner, RedisErrorKind> {
        let map = self.map.read();
        let slot = command.and_then(slot::key_of).map_or(0, slot::of_key);
        let owner = map.owners.get(usize::from(slot)).cloned().flatten();
        let any = || map.owners.iter().flatten().next().cloned();
        owner.or_else(any).ok_or_else(|| {
            RedisErrorKind::NoNode("the cluster has given no slot to any node".to_owned())
        })
    }

    fn owner_at(&self, address: Address) -> Result<Owner, RedisErrorKind> {
        let node = self.map.write().node(&address, &self.maker)?;
        Ok(Owner { address, node })
    }

    /// Asks for the map: whoever is known, and then the server of the URL. One asks, the others wait on our side.
    async fn learn(&self, stages: &mut Stages) -> Result<(), RedisErrorKind> {
        let since = Instant::now();
        let _asking = self.asking.lock().await;
        let learned = match self.is_doubtful.load(Ordering::Acquire) {
            true => self.ask_all().await,
            false => Ok(()),
        };
        stages.acquire += since.elapsed();
        learned
    }

    async fn ask_all(&self) -> Result<(), RedisErrorKind> {
        let seed = self.maker.seed();
        let known: Vec<_> = self.map.read().nodes.keys().cloned().collect();
        let mut failure = None;
        for address in known
            .into_iter()
            .filter(|known| *known != seed)
            .chain([seed.clone()])
        {
            match self.ask(&address).await {
                Ok(map) => {
                    *self.map.write() = map;
                    self.is_doubtful.store(false, Ordering::Release);
                    return Ok(());
                }
                Err(kind) => failure = Some(kind),
            }
        }
        Err(failure.unwrap_or_else(|| RedisErrorKind::NoNode("nobody could be asked".to_owned())))
    }

    async fn ask(&self, address: &Address) -> Result<Map, RedisErrorKind> {
        let node = self.map.write().node(address, &self.maker)?;
        let mut slots = redis::cmd("CLUSTER");
        slots.arg("SLOTS");
        let answer = node
            .call(&Commands::One(slots), false, &mut Stages::default())
            .await?;
        crate::node::must_answer(&answer)?;
        let mut map = Map {
            // Nodes that are still there keep their connections.
            nodes: self.map.read().nodes.clone(),
            owners: vec![None; SLOTS],
        };
        for (range, owner) in slot::ranges(&answer, &address.0)? {
            let node = map.node(&owner, &self.maker)?;
            for slot in range {
                let (address, node) = (owner.clone(), Arc::clone(&node));
                map.set(slot, Owner { address, node });
            }
        }
        let owners = map.owners.iter().flatten();
        let owning: std::collections::HashSet<_> =
            owners.map(|owner| owner.address.clone()).collect();
        map.nodes.retain(|address, _| owning.contains(address));
        Ok(map)
    }
}

impl Map {
    fn node(&mut self, address: &Address, maker: &NodeMaker) -> Result<Arc<Node>, RedisErrorKind> {
        if let Some(node) = self.nodes.get(address) {
            return Ok(Arc::clone(node));
        }
        let node = maker
            .node(&address.0, address.1)
            .map_err(|error| RedisErrorKind::NoNode(error.to_string()))?;
        let node = Arc::new(node);
        self.nodes.insert(address.clone(), Arc::clone(&node));
        Ok(node)
    }

    fn set(&mut self, slot: u16, owner: Owner) {
        if let Some(place) = self.owners.get_mut(usize::from(slot)) {
            *place = Some(owner);
        }
    }
}

/// The replies to so many commands.
fn several(answered: Value, count: usize) -> Result<Vec<Value>, RedisErrorKind> {
    match answered {
        Value::Array(replies) if replies.len() == count => Ok(replies),
        _ => Err(RedisErrorKind::Malformed(format!(
            "{count} commands have not so many replies"
        ))),
    }
}

/// `MOVED slot host:port`, or `ASK slot host:port`.
struct Redirection {
    is_for_once: bool,
    slot: u16,
    address: Address,
}

impl Redirection {
    fn of(value: &Value, answered_by: &str) -> Option<Self> {
        let error = error_in(value)?;
        let is_for_once = match error.kind()? {
            ServerErrorKind::Moved => false,
            ServerErrorKind::Ask => true,
            _ => return None,
        };
        let (slot, address) = error.details()?.split_once(' ')?;
        let (host, port) = address.trim().rsplit_once(':')?;
        // A node that does not know its own name means: the same host.
        let host = if host.is_empty() { answered_by } else { host };
        Some(Redirection {
            is_for_once,
            slot: slot.parse().ok()?,
            address: (host.to_owned(), port.parse().ok()?),
        })
    }
}
