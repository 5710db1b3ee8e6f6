//! Errors and panics, as exceptions in Java.

use std::any::Any;

use jni::Env;
use jni::errors::ErrorPolicy;
use jni::jni_str;
use jni::strings::{JNIStr, JNIString};

/// Why a native method did not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// An argument that is refused; nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// The agent's socket.
    #[error("{0}")]
    Io(String),
    /// The core cannot go on.
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

const CORE_EXCEPTION: &JNIStr = jni_str!("org/elastane/natives/CoreException");

/// Throws [`Failure`] as the exception that `docs/boundary.md` names; a panic is a `CoreException`.
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

/// An exception that is pending already stays.
fn throw(env: &mut Env<'_>, class: &'static JNIStr, message: &str) {
    if env.exception_check() {
        return;
    }
    match env.throw_new(class, JNIString::from(message)) {
        // The jni crate returns this error when the exception was thrown.
        Ok(()) | Err(jni::errors::Error::JavaException) => {}
        Err(error) => log::error!("'{message}' could not be thrown in Java: {error}"),
    }
}
