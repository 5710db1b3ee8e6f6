//! Errors of the boundary, and the Java exceptions that they become.

use std::any::Any;

use elastane_agent_socket::AgentSocketError;
use jni::Env;
use jni::errors::ErrorPolicy;
use jni::jni_str;
use jni::strings::{JNIStr, JNIString};

/// Why a native method failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Java's arguments are invalid; nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// The agent's socket.
    #[error("{0}")]
    Io(String),
    /// The core failed.
    #[error("{0}")]
    Core(String),
    /// JNI itself.
    #[error("JNI: {0}")]
    Jni(#[from] jni::errors::Error),
}

impl Failure {
    pub(crate) fn refused(error: impl std::fmt::Display) -> Self {
        Failure::Refused(error.to_string())
    }

    fn class(&self) -> &'static JNIStr {
        match self {
            Failure::Refused(_) => jni_str!("java/lang/IllegalArgumentException"),
            Failure::Io(_) => jni_str!("java/io/IOException"),
            Failure::Core(_) | Failure::Jni(_) => CORE_EXCEPTION,
        }
    }
}

impl From<AgentSocketError> for Failure {
    fn from(error: AgentSocketError) -> Self {
        match error {
            AgentSocketError::Invalid(message) => Failure::Refused(message),
            AgentSocketError::Io(message) => Failure::Io(message),
        }
    }
}

const CORE_EXCEPTION: &JNIStr = jni_str!("org/elastane/natives/CoreException");

/// Throws [`Failure`] as the exception that `docs/boundary-core.md` names; a panic is a `CoreException`.
pub(crate) struct Throw;

impl<T: Default> ErrorPolicy<T, Failure> for Throw {
    type Captures<'local: 'method, 'method> = ();

    fn on_error<'local: 'method, 'method>(
        env: &mut Env<'local>,
        _captures: &mut (),
        failure: Failure,
    ) -> jni::errors::Result<T> {
        throw(env, failure.class(), &failure.to_string());
        Ok(T::default())
    }

    fn on_panic<'local: 'method, 'method>(
        env: &mut Env<'local>,
        _captures: &mut (),
        payload: Box<dyn Any + Send>,
    ) -> jni::errors::Result<T> {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "without a message".to_owned());
        throw(
            env,
            CORE_EXCEPTION,
            &format!("the core panicked: {message}"),
        );
        Ok(T::default())
    }
}

/// An exception that is already pending is kept.
fn throw(env: &mut Env<'_>, class: &'static JNIStr, message: &str) {
    if env.exception_check() {
        return;
    }
    match env.throw_new(class, JNIString::from(message)) {
        // The jni crate reports a thrown exception in this way.
        Ok(()) | Err(jni::errors::Error::JavaException) => {}
        Err(error) => log::error!("'{message}' could not be thrown in Java: {error}"),
    }
}
