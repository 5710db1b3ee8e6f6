//! The methods by which the ResourceManager looks after the core: bookings, depository, health, status.

use elastane_core::cluster::RunningContainer;
use jni::objects::JString;
use jni::sys::{jint, jlong};

use crate::arguments::node;
use crate::core;
use crate::failure::JavaFailure;

natives! {
    "bookedOtherwise" fn booked_otherwise(
        env,
        handle: jlong,
        number: jint,
        running_json: JString<'local>,
        _now_ms: jlong,
    ) -> JString<'local> {
        let json = running_json.try_to_string(env)?;
        let running: Vec<RunningContainer> =
            serde_json::from_str(&json).map_err(JavaFailure::refused)?;
        let otherwise = core(handle)?.booked_otherwise(node(number)?, &running);
        if otherwise.is_empty() {
            return Ok(JString::default());
        }
        let json = serde_json::to_string(&otherwise).map_err(JavaFailure::core)?;
        Ok(JString::new(env, json)?)
    }

    "copyDepository" fn copy_depository(env, handle: jlong, to: JString<'local>) {
        let to = to.try_to_string(env)?;
        core(handle)?
            .copy_depository(to.as_ref())
            .map_err(JavaFailure::io)
    }

    "takeOverDepository" fn take_over_depository(
        env,
        handle: jlong,
        from: JString<'local>,
    ) -> jint {
        let from = from.try_to_string(env)?;
        let taken = core(handle)?
            .take_over_depository(from.as_ref())
            .map_err(JavaFailure::io)?;
        Ok(jint::try_from(taken.added).unwrap_or(jint::MAX))
    }

    "health" fn health(env, handle: jlong) -> JString<'local> {
        let health = core(handle)?.health();
        let json = serde_json::to_string(&health).map_err(JavaFailure::core)?;
        Ok(JString::new(env, json)?)
    }

    "answer" fn answer(
        env,
        handle: jlong,
        question: JString<'local>,
        now_ms: jlong,
    ) -> JString<'local> {
        let question = question.try_to_string(env)?;
        let answer = core(handle)?.answer(&question, now_ms).map_err(JavaFailure::refused)?;
        Ok(JString::new(env, answer)?)
    }

    "status" fn status(env, handle: jlong, now_ms: jlong) -> JString<'local> {
        let status = core(handle)?.status(now_ms);
        Ok(JString::new(env, status)?)
    }
}
