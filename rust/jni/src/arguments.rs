//! What Java passes, as the core has it.

use elastane_core::ContainerKind;
use elastane_core::cluster::{ApplicationId, Naming, NodeId, Request, Standing};
use jni::Env;
use jni::objects::{JIntArray, JLongArray};
use jni::sys::{jint, jlong};

use crate::failure::JavaFailure;

pub(crate) fn node(number: jint) -> Result<NodeId, JavaFailure> {
    not_negative("node", number).map(NodeId)
}

pub(crate) fn application(number: jint) -> Result<ApplicationId, JavaFailure> {
    not_negative("application", number).map(ApplicationId)
}

fn not_negative(of: &str, number: jint) -> Result<u32, JavaFailure> {
    let refused = |_| format!("{of} number is {number}, at least 0 is allowed");
    u32::try_from(number).map_err(refused).map_err(JavaFailure::refused)
}

/// A negative amount, which YARN has for an overbooked node, is 0.
pub(crate) fn request(memory_bytes: jlong, vcores: jint) -> Request {
    Request {
        memory_bytes: u64::try_from(memory_bytes).unwrap_or(0),
        vcores: u32::try_from(vcores).unwrap_or(0),
    }
}

/// Amounts of the other resource types; null is none. A negative amount, which YARN has for an overbooked
/// node, is 0.
pub(crate) fn amounts(env: &Env<'_>, amounts: &JLongArray<'_>) -> Result<Vec<u64>, JavaFailure> {
    if amounts.is_null() {
        return Ok(Vec::new());
    }
    let mut values = vec![0; amounts.len(env)?];
    amounts.get_region(env, 0, &mut values)?;
    Ok(values.into_iter().map(|value| u64::try_from(value).unwrap_or(0)).collect())
}

/// Null is none.
pub(crate) fn numbers(env: &Env<'_>, array: &JIntArray<'_>) -> Result<Vec<jint>, JavaFailure> {
    if array.is_null() {
        return Ok(Vec::new());
    }
    let mut numbers = vec![0; array.len(env)?];
    array.get_region(env, 0, &mut numbers)?;
    Ok(numbers)
}

pub(crate) fn applications(
    env: &Env<'_>,
    numbers: &JIntArray<'_>,
) -> Result<Vec<ApplicationId>, JavaFailure> {
    self::numbers(env, numbers)?.into_iter().map(application).collect()
}

pub(crate) fn naming(number: jint) -> Result<Naming, JavaFailure> {
    match number {
        0 => Ok(Naming::Best),
        1 => Ok(Naming::Rest),
        2 => Ok(Naming::Fitting),
        _ => Err(JavaFailure::refused(format!("naming is {number}, allowed is 0 to 2"))),
    }
}

pub(crate) fn standing(number: jint) -> Result<Standing, JavaFailure> {
    match number {
        0 => Ok(Standing::Ordered),
        1 => Ok(Standing::ByItsQueue),
        2 => Ok(Standing::Held),
        _ => Err(JavaFailure::refused(format!("standing is {number}, allowed is 0 to 2"))),
    }
}

pub(crate) fn kind(application_master: bool, request_priority: jint) -> ContainerKind {
    if application_master {
        ContainerKind::ApplicationMaster
    } else {
        ContainerKind::Executor { priority: request_priority }
    }
}

/// Writes to the beginning of a direct buffer of Java, up to its capacity.
pub(crate) fn write_ints(
    address: jlong,
    capacity: jint,
    ints: impl Iterator<Item = i32>,
) -> Result<jint, JavaFailure> {
    let pointer = address as *mut i32;
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(JavaFailure::refused("the result buffer has no address"));
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
