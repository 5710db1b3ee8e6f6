//! The methods by which the NodeManager talks to the agent.

use elastane_agent_socket::AgentSocket;
use jni::objects::{JByteArray, JString};
use jni::sys::jint;

natives! {
    "agentReport" fn agent_report(
        env,
        socket: JString<'local>,
        containers_json: JString<'local>,
        timeout_ms: jint,
    ) -> JByteArray<'local> {
        let mut agent = AgentSocket::connect(&socket.try_to_string(env)?, timeout_ms)?;
        agent.containers(&containers_json.try_to_string(env)?)?;
        let report = agent.report()?;
        Ok(env.byte_array_from_slice(&report)?)
    }

    "agentContainers" fn agent_containers(
        env,
        socket: JString<'local>,
        containers_json: JString<'local>,
        timeout_ms: jint,
    ) {
        let mut agent = AgentSocket::connect(&socket.try_to_string(env)?, timeout_ms)?;
        Ok(agent.containers(&containers_json.try_to_string(env)?)?)
    }

    "agentApply" fn agent_apply(
        env,
        socket: JString<'local>,
        protocol_version: jint,
        reply: JByteArray<'local>,
        timeout_ms: jint,
    ) {
        let mut agent = AgentSocket::connect(&socket.try_to_string(env)?, timeout_ms)?;
        let reply = env.convert_byte_array(&reply)?;
        Ok(agent.apply(protocol_version, &reply)?)
    }
}
