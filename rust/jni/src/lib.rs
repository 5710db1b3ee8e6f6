//! jni
