package org.elastane.hadooptests;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Makes CapacityScheduler.serviceInit call {@link Counts#setUp} first. */
final class SetUpHook {
  private SetUpHook() {}

  static byte[] insert(byte[] bytes) {
    ClassReader reader = new ClassReader(bytes);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    reader.accept(
        new ClassVisitor(Opcodes.ASM9, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            return name.equals("serviceInit") ? new AtEntry(next) : next;
          }
        },
        0);
    return writer.toByteArray();
  }

  private static final class AtEntry extends MethodVisitor {
    AtEntry(MethodVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public void visitCode() {
      super.visitCode();
      super.visitVarInsn(Opcodes.ALOAD, 0);
      super.visitMethodInsn(
          Opcodes.INVOKESTATIC,
          Type.getInternalName(Counts.class),
          "setUp",
          "(Ljava/lang/Object;)V",
          false);
    }
  }
}
