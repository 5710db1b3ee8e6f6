package org.elastane.hadooptests;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Rewrites one class: where it names CapacityScheduler as a class constant or a string, creates one
 * or extends it, it uses a subclass instead. Casts, fields and calls stay as they are.
 */
final class Substitution {
  static final String CAPACITY_SCHEDULER =
      "org/apache/hadoop/yarn/server/resourcemanager/scheduler/capacity/CapacityScheduler";

  private static final String CONSTRUCTOR = "<init>";
  private static final String STOCK_NAME = CAPACITY_SCHEDULER.replace('/', '.');
  private static final Type STOCK_TYPE = Type.getObjectType(CAPACITY_SCHEDULER);

  private final String name;
  private final String internalName;
  private int places;

  /**
   * @param name the class to use, with its package
   */
  Substitution(String name) {
    this.name = name;
    this.internalName = name.replace('.', '/');
  }

  /** The rewritten class; null if nothing is to be rewritten. */
  byte[] apply(byte[] bytes) {
    ClassReader reader = new ClassReader(bytes);
    ClassWriter writer = new ClassWriter(reader, 0);
    reader.accept(new Classes(writer), 0);
    return places == 0 ? null : writer.toByteArray();
  }

  /** The number of rewritten places. */
  int places() {
    return places;
  }

  private String substituted(String owner) {
    if (!CAPACITY_SCHEDULER.equals(owner)) {
      return owner;
    }
    places++;
    return internalName;
  }

  private Object substitutedConstant(Object constant) {
    if (STOCK_TYPE.equals(constant)) {
      places++;
      return Type.getObjectType(internalName);
    }
    if (STOCK_NAME.equals(constant)) {
      places++;
      return name;
    }
    return constant;
  }

  private final class Classes extends ClassVisitor {
    Classes(ClassVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public void visit(
        int version, int access, String visited, String signature, String parent, String[] types) {
      super.visit(version, access, visited, signature, substituted(parent), types);
    }

    @Override
    public FieldVisitor visitField(
        int access, String field, String descriptor, String signature, Object value) {
      return super.visitField(access, field, descriptor, signature, substitutedConstant(value));
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String method, String descriptor, String signature, String[] exceptions) {
      return new Methods(super.visitMethod(access, method, descriptor, signature, exceptions));
    }
  }

  private final class Methods extends MethodVisitor {
    Methods(MethodVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public void visitLdcInsn(Object constant) {
      super.visitLdcInsn(substitutedConstant(constant));
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
      super.visitTypeInsn(opcode, opcode == Opcodes.NEW ? substituted(type) : type);
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String method, String descriptor, boolean ofInterface) {
      // A constructor, or a subclass's call of its superclass's.
      boolean constructs = opcode == Opcodes.INVOKESPECIAL && method.equals(CONSTRUCTOR);
      super.visitMethodInsn(
          opcode, constructs ? substituted(owner) : owner, method, descriptor, ofInterface);
    }

    @Override
    public void visitInvokeDynamicInsn(
        String method, String descriptor, Handle bootstrap, Object... arguments) {
      Object[] rewritten = arguments.clone();
      for (int i = 0; i < rewritten.length; i++) {
        rewritten[i] = substitutedConstant(rewritten[i]);
        if (rewritten[i] instanceof Handle handle
            && handle.getTag() == Opcodes.H_NEWINVOKESPECIAL) {
          rewritten[i] =
              new Handle(
                  handle.getTag(),
                  substituted(handle.getOwner()),
                  handle.getName(),
                  handle.getDesc(),
                  handle.isInterface());
        }
      }
      super.visitInvokeDynamicInsn(method, descriptor, bootstrap, rewritten);
    }
  }
}
