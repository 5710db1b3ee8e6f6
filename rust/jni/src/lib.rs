//! `libelastane.so`: the boundary to the JVM, and nothing else.
//!
//! One function for each native method of `org.elastane.natives.Natives`; `docs/boundary-core.md` is
//! normative. Each goes through [`call`], so that errors and panics arrive in Java as exceptions.

/// Native methods of Java's class, by their names there. The body of each gets the JVM's environment.
macro_rules! natives {
    ($(
        $java:literal fn $name:ident($env:pat $(, $argument:ident: $type:ty)* $(,)?)
            $(-> $result:ty)? $body:block
    )*) => {
        $(
            #[jni::jni_mangle("org.elastane.natives.Natives", $java)]
            #[allow(clippy::too_many_arguments)] // Java's signature, see Natives.java
            pub fn $name<'local>(
                mut env: jni::EnvUnowned<'local>,
                _: jni::objects::JClass<'local>,
                $($argument: $type),*
            ) $(-> $result)? {
                $crate::call(&mut env, |$env| $body)
            }
        )*
    };
}

mod agent;
mod arguments;
mod failure;
mod for_tests;
mod scheduler;
mod stderr_log;
mod upkeep;

use std::collections::BTreeMap;

use elastane_runtime::{Elastane, OpenError, RuntimeSettings};
use jni::objects::{JByteBuffer, JString};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned};

use failure::{JavaFailure, Throw};

/// glibc's holds twice as much for a large cluster (`docs/measurements/memory.md`).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn call<'local, T: Default>(
    env: &mut EnvUnowned<'local>,
    work: impl FnOnce(&mut Env<'local>) -> Result<T, JavaFailure>,
) -> T {
    env.with_env(work).resolve::<Throw>()
}

fn core<'a>(handle: jlong) -> Result<&'a Elastane, JavaFailure> {
    // SAFETY: a handle other than 0 came from `open`, and Java never uses one after `close`.
    unsafe { (handle as *const Elastane).as_ref() }
        .ok_or_else(|| JavaFailure::refused("the core is not open"))
}

fn settings(
    env: &mut Env<'_>,
    json: &JString<'_>,
    virtual_cores_count: bool,
) -> Result<RuntimeSettings, JavaFailure> {
    let json = json.try_to_string(env)?;
    let keys: BTreeMap<String, String> =
        serde_json::from_str(&json).map_err(JavaFailure::refused)?;
    RuntimeSettings::from_configuration(&keys, virtual_cores_count).map_err(JavaFailure::refused)
}

natives! {
    "version" fn version(env) -> JString<'local> {
        Ok(JString::new(env, env!("CARGO_PKG_VERSION"))?)
    }

    "protocolVersion" fn protocol_version(_) -> jint {
        Ok(elastane_protocol::VERSION.into())
    }

    "addressOf" fn address_of(env, direct: JByteBuffer<'local>) -> jlong {
        let address = env.get_direct_buffer_address(&direct);
        let address = address.map_err(|_| JavaFailure::refused("the buffer is not direct"))?;
        Ok(address as jlong)
    }

    "open" fn open(
        env,
        settings_json: JString<'local>,
        virtual_cores_count: jboolean,
    ) -> jlong {
        stderr_log::install();
        let settings = settings(env, &settings_json, virtual_cores_count)?;
        let elastane = Elastane::open(settings).map_err(|error| match error {
            OpenError::Policy(_) => JavaFailure::refused(error),
            OpenError::Depository(_) | OpenError::Thread(_) => JavaFailure::core(error),
        })?;
        let elastane = elastane.advised_by(elastane_sim::advise);
        Ok(Box::into_raw(Box::new(elastane)) as jlong)
    }

    "check" fn check(
        env,
        settings_json: JString<'local>,
        virtual_cores_count: jboolean,
    ) {
        settings(env, &settings_json, virtual_cores_count)?;
        Ok(())
    }

    "goOnBy" fn go_on_by(
        env,
        handle: jlong,
        settings_json: JString<'local>,
        virtual_cores_count: jboolean,
        _now_ms: jlong,
    ) {
        let settings = settings(env, &settings_json, virtual_cores_count)?;
        core(handle)?.apply_settings(settings).map_err(JavaFailure::refused)
    }

    "close" fn close(_, handle: jlong) {
        if handle != 0 {
            // SAFETY: the handle came from `open`, and Java closes it once, with nothing under way.
            let elastane = unsafe { Box::from_raw(handle as *mut Elastane) };
            elastane.close();
        }
        Ok(())
    }
}
