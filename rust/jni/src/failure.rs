//! Errors of the boundary, and the Java exceptions that they become.

use std::any::Any;

use elastane_agent_socket::AgentSocketError;
use jni::Env;
use jni::errors::ErrorPolicy;
use jni::jni_str;
use jni::strings::{JNIStr, JNIString};

const CORE_EXCEPTION: &JNIStr = jni_str!("org/elastane/natives/CoreException");

/// Why a native method failed, and the Java exception for that.
pub(crate) struct JavaFailure {
    exception: &'static JNIStr,
    message: String,
}

impl JavaFailure {
    /// Java's arguments are invalid; nothing was changed.
    pub(crate) fn refused(error: impl ToString) -> Self {
        Self::new(jni_str!("java/lang/IllegalArgumentException"), error)
    }

    /// A file, or the agent's socket.
    pub(crate) fn io(error: impl ToString) -> Self {
        Self::new(jni_str!("java/io/IOException"), error)
    }

    /// The core, or JNI itself.
    pub(crate) fn core(error: impl ToString) -> Self {
        Self::new(CORE_EXCEPTION, error)
    }

    fn new(exception: &'static JNIStr, error: impl ToString) -> Self {
        let message = error.to_string();
        Self { exception, message }
    }
}

impl From<jni::errors::Error> for JavaFailure {
    fn from(error: jni::errors::Error) -> Self {
        Self::core(format!("JNI: {error}"))
    }
}

impl From<AgentSocketError> for JavaFailure {
    fn from(error: AgentSocketError) -> Self {
        match error {
            AgentSocketError::Invalid(message) => Self::refused(message),
            AgentSocketError::Io(message) => Self::io(message),
        }
    }
}

/// Throws [`JavaFailure`] as the exception that `docs/boundary-core.md` names; a panic is a `CoreException`.
pub(crate) struct Throw;

impl<T: Default> ErrorPolicy<T, JavaFailure> for Throw {
    type Captures<'local: 'method, 'method> = ();

    fn on_error<'local: 'method, 'method>(
        env: &mut Env<'local>,
        _captures: &mut (),
        failure: JavaFailure,
    ) -> jni::errors::Result<T> {
        throw(env, failure.exception, &failure.message);
        Ok(T::default())
    }

    fn on_panic<'local: 'method, 'method>(
        env: &mut Env<'local>,
        _captures: &mut (),
        payload: Box<dyn Any + Send>,
    ) -> jni::errors::Result<T> {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or(payload.downcast_ref::<String>().map(String::as_str));
        let message = text.unwrap_or("without a message");
        throw(env, CORE_EXCEPTION, &format!("the core panicked: {message}"));
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
