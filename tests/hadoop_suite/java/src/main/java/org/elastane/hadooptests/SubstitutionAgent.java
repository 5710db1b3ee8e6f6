package org.elastane.hadooptests;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import java.security.ProtectionDomain;

/**
 * Puts another scheduler in CapacityScheduler's place in Hadoop's test classes, and counts the
 * schedulers that are set up. System properties say what to do:
 *
 * <ul>
 *   <li>{@code elastane.hadoop-tests.classes}: the folder of the test classes; nothing else is
 *       rewritten.
 *   <li>{@code elastane.hadoop-tests.scheduler}: the class to use; unset for CapacityScheduler.
 * </ul>
 */
public final class SubstitutionAgent {
  static final String CLASSES = "elastane.hadoop-tests.classes";
  static final String SCHEDULER = "elastane.hadoop-tests.scheduler";

  private SubstitutionAgent() {}

  /** Called by the JVM before the tests. */
  public static void premain(String arguments, Instrumentation instrumentation) {
    Path testClasses = Path.of(System.getProperty(CLASSES)).toAbsolutePath();
    instrumentation.addTransformer(
        new Transformer(testClasses, System.getProperty(SCHEDULER, "")), false);
  }

  private record Transformer(Path testClasses, String scheduler) implements ClassFileTransformer {
    @Override
    public byte[] transform(
        ClassLoader loader, String name, Class<?> loaded, ProtectionDomain domain, byte[] bytes) {
      try {
        if (Substitution.CAPACITY_SCHEDULER.equals(name)) {
          return SetUpHook.insert(bytes);
        }
        if (scheduler.isEmpty() || !isTestClass(domain)) {
          return null;
        }
        Substitution substitution = new Substitution(scheduler);
        byte[] rewritten = substitution.apply(bytes);
        Counts.rewritten(name, substitution.places());
        return rewritten;
      } catch (Throwable t) {
        // The JVM ignores what a transformer throws, and the test would run on the other scheduler.
        t.printStackTrace();
        Runtime.getRuntime().halt(70);
        return null;
      }
    }

    private boolean isTestClass(ProtectionDomain domain) throws Exception {
      return domain != null
          && domain.getCodeSource() != null
          && domain.getCodeSource().getLocation() != null
          && "file".equals(domain.getCodeSource().getLocation().getProtocol())
          && testClasses.equals(Path.of(domain.getCodeSource().getLocation().toURI()));
    }
  }
}
