//! The contract of the protocol adapters.

use crate::Describe;
use std::future::Future;
use std::sync::Arc;

/// One kind of request against one target: what a protocol adapter is.
///
/// The future covers everything from the moment of the call: the wait for a connection, the exchange, the last
/// byte of the answer. What it waited for on our side of the wire it reports as the stage `acquire`.
pub trait Operation: Send + Sync + 'static {
    /// What is asked.
    type Request: Send + 'static;
    /// What came back.
    type Reply: Describe + Send + 'static;
    /// Why nothing came back.
    type Error: Describe + Send + 'static;

    /// Sends one request and waits for the whole of its answer.
    fn call(
        &self,
        request: Self::Request,
    ) -> impl Future<Output = Result<Self::Reply, Self::Error>> + Send;
}

impl<T: Operation> Operation for Arc<T> {
    type Request = T::Request;
    type Reply = T::Reply;
    type Error = T::Error;

    fn call(&self, request: T::Request) -> impl Future<Output = Result<T::Reply, T::Error>> + Send {
        (**self).call(request)
    }
}

/// An output whose type was forgotten.
pub type AnyOutput = Result<Box<dyn Describe + Send>, Box<dyn Describe + Send>>;

/// An operation with its source of requests bound, for tools that choose the protocol at run time.
#[async_trait::async_trait]
pub trait AnyOperation: Send + Sync + 'static {
    /// Sends request number `seq`.
    async fn call(&self, seq: u64) -> AnyOutput;
}

/// Binds `request`, which makes request number `seq`, to `operation` and forgets both types.
///
/// ```
/// # use openloop_measurer::{AnyOperation, Operation, erase};
/// # struct Echo;
/// # impl Operation for Echo {
/// #     type Request = u64; type Reply = (); type Error = ();
/// #     async fn call(&self, _: u64) -> Result<(), ()> { Ok(()) }
/// # }
/// let protocol: Box<dyn AnyOperation> = Box::new(erase(Echo, |seq| seq % 10));
/// ```
pub fn erase<O, R>(operation: O, request: R) -> impl AnyOperation
where
    O: Operation,
    R: Fn(u64) -> O::Request + Send + Sync + 'static,
{
    Erased { operation, request }
}

struct Erased<O, R> {
    operation: O,
    request: R,
}

#[async_trait::async_trait]
impl<O, R> AnyOperation for Erased<O, R>
where
    O: Operation,
    R: Fn(u64) -> O::Request + Send + Sync + 'static,
{
    async fn call(&self, seq: u64) -> AnyOutput {
        match self.operation.call((self.request)(seq)).await {
            Ok(reply) => Ok(Box::new(reply)),
            Err(error) => Err(Box::new(error)),
        }
    }
}
