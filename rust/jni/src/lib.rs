//! `libelastane.so`: the boundary to the JVM, and nothing else.
//!
//! One function for each native method of `org.elastane.natives.Natives`; `docs/boundary-core.md` is
//! normative. Each goes through [`call`], so that errors and panics arrive in Java as exceptions.

mod agent;
mod failure;
mod for_tests;
mod scheduler;
mod stderr_log;

use std::collections::BTreeMap;

use elastane_runtime::{Elastane, RuntimeSettings};
use jni::objects::{JByteBuffer, JClass, JString};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned, jni_mangle};

use failure::{Failure, Throw};

type Unowned<'local> = EnvUnowned<'local>;
type Class<'local> = JClass<'local>;

fn call<'local, T: Default>(
    env: &mut EnvUnowned<'local>,
    work: impl FnOnce(&mut Env<'local>) -> Result<T, Failure>,
) -> T {
    env.with_env(work).resolve::<Throw>()
}

fn core<'a>(handle: jlong) -> Result<&'a Elastane, Failure> {
    // SAFETY: a handle other than 0 came from `open`, and Java never uses one after `close`.
    unsafe { (handle as *const Elastane).as_ref() }
        .ok_or_else(|| Failure::Refused("the core is not open".to_owned()))
}

#[jni_mangle("org.elastane.natives.Natives")]
pub fn version<'local>(mut env: Unowned<'local>, _: Class<'local>) -> JString<'local> {
    call(&mut env, |env| {
        Ok(JString::new(env, env!("CARGO_PKG_VERSION"))?)
    })
}

#[jni_mangle("org.elastane.natives.Natives", "protocolVersion")]
pub fn protocol_version<'local>(_env: Unowned<'local>, _: Class<'local>) -> jint {
    elastane_protocol::VERSION.into()
}

#[jni_mangle("org.elastane.natives.Natives", "addressOf")]
pub fn address_of<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    direct: JByteBuffer<'local>,
) -> jlong {
    call(&mut env, |env| {
        let address = env.get_direct_buffer_address(&direct);
        let address = address.map_err(|_| Failure::Refused("the buffer is not direct".into()))?;
        Ok(address as jlong)
    })
}

#[jni_mangle("org.elastane.natives.Natives")]
pub fn open<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    settings_json: JString<'local>,
    virtual_cores_count: jboolean,
) -> jlong {
    call(&mut env, |env| {
        stderr_log::install();
        let json = settings_json.try_to_string(env)?;
        let keys: BTreeMap<String, String> =
            serde_json::from_str(&json).map_err(Failure::refused)?;
        let settings = RuntimeSettings::from_configuration(&keys, virtual_cores_count)
            .map_err(Failure::refused)?;
        let elastane = Elastane::open(settings).map_err(Failure::refused)?;
        Ok(Box::into_raw(Box::new(elastane)) as jlong)
    })
}

#[jni_mangle("org.elastane.natives.Natives")]
pub fn close<'local>(mut env: Unowned<'local>, _: Class<'local>, handle: jlong) {
    call(&mut env, |_| {
        if handle != 0 {
            // SAFETY: the handle came from `open`, and Java closes it once, with nothing under way.
            let elastane = unsafe { Box::from_raw(handle as *mut Elastane) };
            elastane.close();
        }
        Ok(())
    });
}
