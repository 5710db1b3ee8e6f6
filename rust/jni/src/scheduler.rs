//! The methods that the ResourceManager's scheduler calls.

use elastane_core::cluster::{
    Ask, BookableChange, CommitRequest, Offer, Preemption, QueueShare, Request,
};
use elastane_predict::Submission;
use elastane_runtime::AskDetails;
use jni::objects::{JByteArray, JIntArray, JLongArray, JString};
use jni::sys::{jboolean, jint, jlong};

use crate::arguments::{
    self, amounts, application, kind, naming, node, numbers, request, write_ints,
};
use crate::core;
use crate::failure::JavaFailure;

const MIB: u64 = 1 << 20;

natives! {
    "nodeAdded" fn node_added(
        env,
        handle: jlong,
        name: JString<'local>,
        memory_bytes: jlong,
        vcores: jint,
        _now_ms: jlong,
    ) -> jint {
        let name = name.try_to_string(env)?;
        let node = core(handle)?.node_added(&name, request(memory_bytes, vcores));
        Ok(node.0 as jint)
    }

    "nodeResized" fn node_resized(
        _,
        handle: jlong,
        number: jint,
        memory_bytes: jlong,
        vcores: jint,
        _now_ms: jlong,
    ) {
        core(handle)?.node_resized(node(number)?, request(memory_bytes, vcores));
        Ok(())
    }

    "nodeLabelled" fn node_labelled(
        env,
        handle: jlong,
        number: jint,
        label: JString<'local>,
        _now_ms: jlong,
    ) {
        let label = label.try_to_string(env)?;
        core(handle)?.node_labelled(node(number)?, &label);
        Ok(())
    }

    "queues" fn queues(env, handle: jlong, json: JString<'local>, _now_ms: jlong) {
        let json = json.try_to_string(env)?;
        let shares: Vec<QueueShare> = serde_json::from_str(&json).map_err(JavaFailure::refused)?;
        core(handle)?.configure_queues(shares);
        Ok(())
    }

    "forbidRaising" fn forbid_raising(_, handle: jlong, is_forbidden: jboolean, _now_ms: jlong) {
        core(handle)?.forbid_raising(is_forbidden);
        Ok(())
    }

    "headroom" fn headroom(
        _,
        handle: jlong,
        number: jint,
        result_address: jlong,
        capacity: jint,
        now_ms: jlong,
    ) -> jint {
        match core(handle)?.headroom(application(number)?, now_ms) {
            None => Ok(0),
            Some(Request { memory_bytes, vcores }) => {
                let memory_mib = i32::try_from(memory_bytes / MIB).unwrap_or(i32::MAX);
                let vcores = i32::try_from(vcores).unwrap_or(i32::MAX);
                write_ints(result_address, capacity, [memory_mib, vcores].into_iter())
            }
        }
    }

    "nodeRemoved" fn node_removed(_, handle: jlong, number: jint, _now_ms: jlong) {
        core(handle)?.node_removed(node(number)?);
        Ok(())
    }

    "applicationAdded" fn application_added(
        env,
        handle: jlong,
        json: JString<'local>,
        now_ms: jlong,
    ) -> jint {
        let json = json.try_to_string(env)?;
        let submission: Submission = serde_json::from_str(&json).map_err(JavaFailure::refused)?;
        Ok(core(handle)?.application_added(&submission, now_ms).0 as jint)
    }

    "applicationMoved" fn application_moved(
        env,
        handle: jlong,
        number: jint,
        queue: JString<'local>,
        _now_ms: jlong,
    ) {
        let queue = queue.try_to_string(env)?;
        core(handle)?.application_moved(application(number)?, &queue);
        Ok(())
    }

    "applicationRemoved" fn application_removed(
        _,
        handle: jlong,
        number: jint,
        succeeded: jboolean,
        now_ms: jlong,
    ) {
        core(handle)?.application_removed(application(number)?, succeeded, now_ms);
        Ok(())
    }

    "pending" fn pending(
        env,
        handle: jlong,
        number: jint,
        application_master: jboolean,
        request_priority: jint,
        priority: jint,
        memory_bytes: jlong,
        vcores: jint,
        count: jint,
        countables: JLongArray<'local>,
        label: JString<'local>,
        standing: jint,
        now_ms: jlong,
    ) {
        let application = application(number)?;
        let countables = amounts(env, &countables)?;
        let label = label.try_to_string(env)?;
        let ask = Ask {
            kind: kind(application_master, request_priority),
            priority,
            request: request(memory_bytes, vcores),
            count: u32::try_from(count).unwrap_or(0),
        };
        let standing = arguments::standing(standing)?;
        let details = AskDetails { countables: &countables, label: &label, standing };
        core(handle)?.pending_with(application, ask, &details, now_ms);
        Ok(())
    }

    "round" fn round(
        env,
        handle: jlong,
        number: jint,
        free_memory_bytes: jlong,
        free_vcores: jint,
        free_countables: JLongArray<'local>,
        at_user_limit: JIntArray<'local>,
        named: jint,
        result_address: jlong,
        capacity: jint,
        now_ms: jlong,
    ) -> jint {
        let free_countables = amounts(env, &free_countables)?;
        let at_user_limit = arguments::applications(env, &at_user_limit)?;
        let offer = Offer {
            node: node(number)?,
            free: request(free_memory_bytes, free_vcores),
            free_countables: &free_countables,
            at_user_limit: &at_user_limit,
            naming: naming(named)?,
        };
        match core(handle)?.offer(offer, now_ms) {
            None => Ok(-1),
            Some(order) => {
                let count = order.len();
                let numbers = order.into_iter().map(|application| application.0 as i32);
                write_ints(result_address, capacity, numbers)?;
                Ok(jint::try_from(count).unwrap_or(jint::MAX))
            }
        }
    }

    "skipped" fn skipped(
        env,
        handle: jlong,
        number: jint,
        applications: JIntArray<'local>,
        now_ms: jlong,
    ) {
        let applications = arguments::applications(env, &applications)?;
        core(handle)?.skipped(node(number)?, &applications, now_ms);
        Ok(())
    }

    "commit" fn commit(
        env,
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
    }

    "finished" fn finished(env, handle: jlong, container: JString<'local>, now_ms: jlong) {
        let container = container.try_to_string(env)?;
        core(handle)?.finished(&container, now_ms);
        Ok(())
    }

    "report" fn report(
        env,
        handle: jlong,
        node: JString<'local>,
        protocol_version: jint,
        body: JByteArray<'local>,
        now_ms: jlong,
    ) -> JByteArray<'local> {
        let node = node.try_to_string(env)?;
        let body = env.convert_byte_array(&body)?;
        // A number above u16 is an unknown version, too.
        let version = u16::try_from(protocol_version).unwrap_or(u16::MAX);
        let reply = core(handle)?
            .report(&node, version, &body, now_ms)
            .map_err(JavaFailure::refused)?;
        Ok(env.byte_array_from_slice(&reply)?)
    }

    "bookableChanges" fn bookable_changes(
        _,
        handle: jlong,
        result_address: jlong,
        limit: jint,
        now_ms: jlong,
    ) -> jint {
        let most = usize::try_from(limit).unwrap_or(0);
        let changes = core(handle)?.bookable_changes(most, now_ms);
        let ints = changes.iter().flat_map(|BookableChange { node, ratio, .. }| {
            let ratios = [ratio.memory_thousandths, ratio.vcores_thousandths];
            [node.0 as i32, ratios[0] as i32, ratios[1] as i32]
        });
        write_ints(result_address, limit.saturating_mul(3), ints)?;
        Ok(changes.len() as jint)
    }

    "mayPreempt" fn may_preempt(
        env,
        handle: jlong,
        number: jint,
        queue: JString<'local>,
        now_ms: jlong,
    ) -> jboolean {
        let queue = queue.try_to_string(env)?;
        let preemption = Preemption { node: node(number)?, queue: &queue };
        Ok(core(handle)?.may_preempt(preemption, now_ms))
    }

    "draining" fn draining(env, handle: jlong, nodes: JIntArray<'local>, _now_ms: jlong) {
        let nodes: Result<Vec<_>, _> = numbers(env, &nodes)?.into_iter().map(node).collect();
        core(handle)?.draining(&nodes?);
        Ok(())
    }

    "preempted" fn preempted(env, handle: jlong, json: JString<'local>, now_ms: jlong) {
        let json = json.try_to_string(env)?;
        let preemption = serde_json::from_str(&json).map_err(JavaFailure::refused)?;
        elastane_runtime::record_preemption(core(handle)?, preemption, now_ms);
        Ok(())
    }

    "memoryVictims" fn memory_victims(
        env,
        handle: jlong,
        wait_ms: jlong,
        now_ms: jlong,
    ) -> JString<'local> {
        let orders = core(handle)?.preemption_orders(wait_ms, now_ms);
        if orders.is_empty() {
            return Ok(JString::default());
        }
        let json = serde_json::to_string(&orders).map_err(JavaFailure::core)?;
        Ok(JString::new(env, json)?)
    }
}
