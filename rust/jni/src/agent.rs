//! The methods by which the NodeManager talks to the agent.

use elastane_agent_socket::AgentSocket;
use jni::jni_mangle;
use jni::objects::{JByteArray, JString};
use jni::sys::jint;

use crate::{Class, Unowned, call};

#[jni_mangle("org.elastane.natives.Natives", "agentReport")]
pub fn agent_report<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    socket: JString<'local>,
    containers_json: JString<'local>,
    timeout_ms: jint,
) -> JByteArray<'local> {
    call(&mut env, |env| {
        let mut agent = AgentSocket::connect(&socket.try_to_string(env)?, timeout_ms)?;
        agent.containers(&containers_json.try_to_string(env)?)?;
        let report = agent.report()?;
        Ok(env.byte_array_from_slice(&report)?)
    })
}

#[jni_mangle("org.elastane.natives.Natives", "agentContainers")]
pub fn agent_containers<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    socket: JString<'local>,
    containers_json: JString<'local>,
    timeout_ms: jint,
) {
    call(&mut env, |env| {
        let mut agent = AgentSocket::connect(&socket.try_to_string(env)?, timeout_ms)?;
        Ok(agent.containers(&containers_json.try_to_string(env)?)?)
    });
}

#[jni_mangle("org.elastane.natives.Natives", "agentApply")]
pub fn agent_apply<'local>(
    mut env: Unowned<'local>,
    _: Class<'local>,
    socket: JString<'local>,
    protocol_version: jint,
    reply: JByteArray<'local>,
    timeout_ms: jint,
) {
    call(&mut env, |env| {
        let mut agent = AgentSocket::connect(&socket.try_to_string(env)?, timeout_ms)?;
        let reply = env.convert_byte_array(&reply)?;
        Ok(agent.apply(protocol_version, &reply)?)
    });
}
