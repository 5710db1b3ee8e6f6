//! The methods that the ResourceManager's scheduler calls.

use elastane_core::ContainerKind;
use elastane_core::cluster::{ApplicationId, Ask, CommitRequest, NodeId, Request};
use elastane_predict::Submission;
use jni::jni_mangle;
use jni::objects::{JByteArray, JString};
use jni::sys::{jboolean, jdouble, jint, jlong};

use crate::failure::Failure;
use crate::{Class, Unowned, call, core};

fn node(number: jint) -> Result<NodeId, Failure> {
    u32::try_from(number)
        .map(NodeId)
        .map_err(|_| Failure::Refused(format!("node number is {number}, at least 0 is allowed")))
}

fn application(number: jint) -> Result<ApplicationId, Failure> {
    u32::try_from(number).map(ApplicationId).map_err(|_| {
        Failure::Refused(format!(
            "application number is {number}, at least 0 is allowed"
        ))
    })
}

/// A negative amount, which YARN has for an overbooked node, is 0.
fn request(memory_bytes: jlong, vcores: jint) -> Request {
    Request {
        memory_bytes: u64::try_from(memory_bytes).unwrap_or(0),
        vcores: u32::try_from(vcores).unwrap_or(0),
    }
}

fn kind(application_master: bool, request_priority: jint) -> ContainerKind {
    if application_master {
        ContainerKind::ApplicationMaster
    } else {
        ContainerKind::Executor {
            priority: request_priority,
        }
    }
}

/// Writes to the beginning of a direct buffer of Java, up to its capacity.
fn write_ints(
    address: jlong,
    capacity: jint,
    ints: impl Iterator<Item = i32>,
) -> Result<jint, Failure> {
    let pointer = address as *mut i32;
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Failure::Refused(
            "the result buffer has no address".to_owned(),
        ));
    }
    let capacity = usize::try_from(capacity).unwrap_or(0);
    // SAFETY: Java owns a direct buffer of `capacity` ints at this address, which only the calling
    // thread uses, and keeps it for the length of the call.
    let buffer = unsafe { std::slice::from_raw_parts_mut(pointer, capacity) };
    let mut count = 0;
    for (slot, int) in buffer.iter_mut().zip(ints) {
        *slot = int;
        count += 1;
    }
    Ok(count)
}

#[jni_mangle("org.elastane.natives.Natives", "nodeAdded")]
pub fn node_added<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    name: JString<'local>,
    memory_bytes: jlong,
    vcores: jint,
    _now_ms: jlong,
) -> jint {
    call(&mut env, |env| {
        let name = name.try_to_string(env)?;
        let node = core(handle)?.node_added(&name, request(memory_bytes, vcores));
        Ok(node.0 as jint)
    })
}

#[jni_mangle("org.elastane.natives.Natives", "nodeResized")]
pub fn node_resized<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    number: jint,
    memory_bytes: jlong,
    vcores: jint,
    _now_ms: jlong,
) {
    call(&mut env, |_| {
        core(handle)?.node_resized(node(number)?, request(memory_bytes, vcores));
        Ok(())
    });
}

#[jni_mangle("org.elastane.natives.Natives", "nodeRemoved")]
pub fn node_removed<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    number: jint,
    _now_ms: jlong,
) {
    call(&mut env, |_| {
        core(handle)?.node_removed(node(number)?);
        Ok(())
    });
}

#[jni_mangle("org.elastane.natives.Natives", "applicationAdded")]
pub fn application_added<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    json: JString<'local>,
    now_ms: jlong,
) -> jint {
    call(&mut env, |env| {
        let json = json.try_to_string(env)?;
        let submission: Submission = serde_json::from_str(&json).map_err(Failure::refused)?;
        Ok(core(handle)?.application_added(&submission, now_ms).0 as jint)
    })
}

#[jni_mangle("org.elastane.natives.Natives", "applicationMoved")]
pub fn application_moved<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    number: jint,
    queue: JString<'local>,
    _now_ms: jlong,
) {
    call(&mut env, |env| {
        let queue = queue.try_to_string(env)?;
        core(handle)?.application_moved(application(number)?, &queue);
        Ok(())
    });
}

#[jni_mangle("org.elastane.natives.Natives", "applicationRemoved")]
pub fn application_removed<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    number: jint,
    succeeded: jboolean,
    now_ms: jlong,
) {
    call(&mut env, |_| {
        core(handle)?.application_removed(application(number)?, succeeded, now_ms);
        Ok(())
    });
}

#[jni_mangle("org.elastane.natives.Natives")]
#[allow(clippy::too_many_arguments)] // Java's signature, see Natives.java
pub fn pending<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    number: jint,
    application_master: jboolean,
    request_priority: jint,
    priority: jint,
    memory_bytes: jlong,
    vcores: jint,
    count: jint,
    now_ms: jlong,
) {
    call(&mut env, |_| {
        let ask = Ask {
            kind: kind(application_master, request_priority),
            priority,
            request: request(memory_bytes, vcores),
            count: u32::try_from(count).unwrap_or(0),
        };
        core(handle)?.pending(application(number)?, ask, now_ms);
        Ok(())
    });
}

#[jni_mangle("org.elastane.natives.Natives")]
#[allow(clippy::too_many_arguments)] // Java's signature, see Natives.java
pub fn round<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    number: jint,
    free_memory_bytes: jlong,
    free_vcores: jint,
    result_address: jlong,
    capacity: jint,
    now_ms: jlong,
) -> jint {
    call(&mut env, |_| {
        let free = request(free_memory_bytes, free_vcores);
        match core(handle)?.round(node(number)?, free, now_ms) {
            None => Ok(-1),
            Some(order) => {
                let numbers = order.into_iter().map(|application| application.0 as i32);
                write_ints(result_address, capacity, numbers)
            }
        }
    })
}

#[jni_mangle("org.elastane.natives.Natives")]
#[allow(clippy::too_many_arguments)] // Java's signature, see Natives.java
pub fn commit<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    container: JString<'local>,
    application_number: jint,
    node_number: jint,
    application_master: jboolean,
    request_priority: jint,
    memory_bytes: jlong,
    vcores: jint,
    may_refuse: jboolean,
    started_ms: jlong,
    now_ms: jlong,
) -> jboolean {
    call(&mut env, |env| {
        let container = container.try_to_string(env)?;
        let commit = CommitRequest {
            container: &container,
            application: application(application_number)?,
            node: node(node_number)?,
            kind: kind(application_master, request_priority),
            request: request(memory_bytes, vcores),
            may_refuse,
            start_ms: started_ms,
        };
        Ok(core(handle)?.commit(commit, now_ms))
    })
}

#[jni_mangle("org.elastane.natives.Natives")]
pub fn finished<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    container: JString<'local>,
    now_ms: jlong,
) {
    call(&mut env, |env| {
        let container = container.try_to_string(env)?;
        core(handle)?.finished(&container, now_ms);
        Ok(())
    });
}

#[jni_mangle("org.elastane.natives.Natives")]
pub fn report<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    node: JString<'local>,
    protocol_version: jint,
    body: JByteArray<'local>,
    now_ms: jlong,
) -> JByteArray<'local> {
    call(&mut env, |env| {
        let node = node.try_to_string(env)?;
        let body = env.convert_byte_array(&body)?;
        // A number above u16 is an unknown version, too.
        let version = u16::try_from(protocol_version).unwrap_or(u16::MAX);
        let reply = core(handle)?
            .report(&node, version, &body, now_ms)
            .map_err(Failure::refused)?;
        Ok(env.byte_array_from_slice(&reply)?)
    })
}

#[jni_mangle("org.elastane.natives.Natives", "bookableChanges")]
pub fn bookable_changes<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    result_address: jlong,
    capacity_pairs: jint,
    now_ms: jlong,
) -> jint {
    call(&mut env, |_| {
        let pairs = usize::try_from(capacity_pairs).unwrap_or(0);
        let changes = core(handle)?.bookable_changes(pairs, now_ms);
        let ints = changes
            .iter()
            .flat_map(|change| [change.node.0 as i32, change.thousandths as i32]);
        write_ints(result_address, capacity_pairs.saturating_mul(2), ints)?;
        Ok(changes.len() as jint)
    })
}

#[jni_mangle("org.elastane.natives.Natives", "mayPreempt")]
pub fn may_preempt<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    queue_absolute_capacity: jdouble,
    queue_used_memory_bytes: jlong,
    queue_used_vcores: jint,
    _now_ms: jlong,
) -> jboolean {
    call(&mut env, |_| {
        let used = request(queue_used_memory_bytes, queue_used_vcores);
        Ok(core(handle)?.may_preempt(queue_absolute_capacity, used))
    })
}

#[jni_mangle("org.elastane.natives.Natives", "memoryVictims")]
pub fn memory_victims<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    wait_ms: jlong,
    now_ms: jlong,
) -> JString<'local> {
    call(&mut env, |env| {
        let orders = core(handle)?.preemption_orders(wait_ms, now_ms);
        if orders.is_empty() {
            return Ok(JString::default());
        }
        let json =
            serde_json::to_string(&orders).map_err(|error| Failure::Core(error.to_string()))?;
        Ok(JString::new(env, json)?)
    })
}

#[jni_mangle("org.elastane.natives.Natives", "copyDepository")]
pub fn copy_depository<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    to: JString<'local>,
) {
    call(&mut env, |env| {
        let to = to.try_to_string(env)?;
        core(handle)?
            .copy_depository(to.as_ref())
            .map_err(|error| Failure::Io(error.to_string()))
    });
}

#[jni_mangle("org.elastane.natives.Natives", "takeOverDepository")]
pub fn take_over_depository<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    from: JString<'local>,
) -> jint {
    call(&mut env, |env| {
        let from = from.try_to_string(env)?;
        let taken = core(handle)?
            .take_over_depository(from.as_ref())
            .map_err(|error| Failure::Io(error.to_string()))?;
        Ok(jint::try_from(taken.added).unwrap_or(jint::MAX))
    })
}

#[jni_mangle("org.elastane.natives.Natives")]
pub fn status<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    handle: jlong,
    now_ms: jlong,
) -> JString<'local> {
    call(&mut env, |env| {
        let status = core(handle)?.status(now_ms);
        Ok(JString::new(env, status)?)
    })
}
