//! Methods for Java's tests of the boundary.

use elastane_protocol::{CanLimit, Capacity, MemoryVictim, Report, Usage, encode};
use jni::jni_mangle;
use jni::objects::{JByteArray, JString};
use jni::sys::{jint, jlong};

use crate::failure::Failure;
use crate::{Class, Unowned, call, core};

#[jni_mangle("org.elastane.natives.Natives", "panicForTest")]
pub fn panic_for_test<'local>(mut env: Unowned<'local>, _: Class<'local>, handle: jlong) {
    call(&mut env, |_| {
        core(handle)?.panic_for_test();
        Ok(())
    });
}

#[jni_mangle("org.elastane.natives.Natives", "errorForTest")]
pub fn error_for_test<'local>(mut env: Unowned<'local>, _: Class<'local>, _handle: jlong) {
    call(&mut env, |_| -> Result<(), Failure> {
        Err(Failure::Core("an error that a test asked for".to_owned()))
    });
}

#[jni_mangle("org.elastane.natives.Natives", "reportBodyForTest")]
pub fn report_body_for_test<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    cpu_millicores: jint,
    memory_bytes: jlong,
    memory_victim: JString<'local>,
) -> JByteArray<'local> {
    call(&mut env, |env| {
        let memory_victims = if memory_victim.is_null() {
            Vec::new()
        } else {
            vec![MemoryVictim {
                container: memory_victim.try_to_string(env)?,
                resident_bytes: 2 << 30,
                short_bytes: 1 << 30,
            }]
        };
        let report = Report {
            agent_run: 1,
            sequence: 0,
            can_limit: CanLimit::default(),
            capacity: Capacity {
                cpu_cores: cpu_millicores as f32 / 1e3,
                memory_bytes: u64::try_from(memory_bytes).map_err(Failure::refused)?,
                ..Capacity::default()
            },
            containers_usage: Usage::default(),
            node_usage: Usage::default(),
            pressure: None,
            memory_victims,
            containers: Vec::new(),
        };
        let body = encode(&report).map_err(Failure::refused)?;
        Ok(env.byte_array_from_slice(&body)?)
    })
}
