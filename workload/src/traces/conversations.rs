//! Which requests of a trace belong together.

use std::collections::HashMap;

use super::Trace;

impl Trace {
    /// The requests of each session, by their index, in order of time; sessions in the order of their first request.
    ///
    /// Requests belong together that name the same [`session`](super::TraceRequest::session), or of which one is the
    /// [`parent`](super::TraceRequest::parent) of the other, by any number of steps, also where the parent itself lies
    /// before the trace begins. A request that tells neither is a session of its own.
    ///
    /// A later turn was written after the answer to the one before. A replay that keeps the recorded instant of every
    /// turn sends some before that answer is there; a partly-open replay sends a session's first turn at its recorded
    /// instant and each later one after the answer (see [`sessions`](crate::sessions)).
    ///
    /// ```
    /// use openloop_workload::traces::Trace;
    ///
    /// let trace = Trace::read("offset,session\n0,a\n1,b\n2,a\n3,\n".as_bytes())?;
    /// assert_eq!(trace.sessions(), [vec![0, 2], vec![1], vec![3]]);
    /// # Ok::<(), openloop_workload::traces::TraceError>(())
    /// ```
    #[must_use]
    pub fn sessions(&self) -> Vec<Vec<usize>> {
        let requests = self.requests();
        let mut groups = Groups((0..requests.len()).collect());
        // The request that stands for each session and for each number that a request or a parent has.
        let (mut by_session, mut by_id) = (HashMap::new(), HashMap::new());
        for (index, request) in requests.iter().enumerate() {
            if let Some(session) = &request.session {
                groups.join(index, *by_session.entry(&**session).or_insert(index));
            }
            for id in [request.id, request.parent].into_iter().flatten() {
                groups.join(index, *by_id.entry(id).or_insert(index));
            }
        }
        let mut order: Vec<_> = (0..requests.len()).collect();
        order.sort_by_key(|&index| requests[index].offset_ns);
        let (mut places, mut sessions) = (HashMap::new(), Vec::new());
        for index in order {
            let place = *places.entry(groups.root(index)).or_insert(sessions.len());
            if place == sessions.len() {
                sessions.push(Vec::new());
            }
            sessions[place].push(index);
        }
        sessions
    }
}

/// Disjoint sets: for each member another of its set, or itself if it stands for the set.
struct Groups(Vec<usize>);

impl Groups {
    fn root(&mut self, mut member: usize) -> usize {
        while self.0[member] != member {
            // Halves the way for the next time.
            self.0[member] = self.0[self.0[member]];
            member = self.0[member];
        }
        member
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }
}
