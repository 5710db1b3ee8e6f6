//! Methods for Java's tests of the boundary.

use elastane_core::cluster::ApplicationId;
use elastane_core::{ContainerKind, Resources};
use elastane_protocol::{CanLimit, Capacity, MemoryVictim, Report, Usage, encode};
use jni::objects::{JByteArray, JString};
use jni::sys::{jint, jlong};

use crate::core;
use crate::failure::JavaFailure;

natives! {
    "panicForTest" fn panic_for_test(_, handle: jlong) {
        core(handle)?.panic_for_test();
        Ok(())
    }

    "errorForTest" fn error_for_test(_, _handle: jlong) {
        Err(JavaFailure::core("an error that a test asked for"))
    }

    "foreseeForTest" fn foresee_for_test(
        _,
        handle: jlong,
        application: jint,
        request_priority: jint,
        cpu_millicores: jint,
        memory_bytes: jlong,
    ) {
        let number = u32::try_from(application).map_err(JavaFailure::refused)?;
        let amounts = Resources {
            cpu_cores: f64::from(cpu_millicores) / 1e3,
            memory_bytes: memory_bytes as f64,
            ..Resources::ZERO
        };
        let kind = ContainerKind::Executor { priority: request_priority };
        core(handle)?.foresee_for_test(ApplicationId(number), kind, amounts);
        Ok(())
    }

    "reportBodyForTest" fn report_body_for_test(
        env,
        cpu_millicores: jint,
        memory_bytes: jlong,
        memory_victim: JString<'local>,
    ) -> JByteArray<'local> {
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
                memory_bytes: u64::try_from(memory_bytes).map_err(JavaFailure::refused)?,
                ..Capacity::default()
            },
            containers_usage: Usage::default(),
            node_usage: Usage::default(),
            pressure: None,
            memory_victims,
            decommissioned: Vec::new(),
            containers: Vec::new(),
        };
        let body = encode(&report).map_err(JavaFailure::refused)?;
        Ok(env.byte_array_from_slice(&body)?)
    }
}
