package org.elastane.natives;

/** Uses the jar's library as the ResourceManager does. In the package that may make the core panic. */
final class UsesLibrary {
  private static final String DEPOSITORY_KEY = "yarn.scheduler.elastane.depository.file";

  private UsesLibrary() {}

  /**
   * Prints the platform, the version of the library and what a panic arrives as.
   *
   * @param arguments a depository
   */
  public static void main(String[] arguments) {
    NativeLibrary.load();
    long core = Natives.open("{\"" + DEPOSITORY_KEY + "\": \"" + arguments[0] + "\"}", true);
    String health = Natives.health(core);
    String panic = "none";
    // Rust's panics are unwound by the unwinder that the linker put into the library.
    try {
      Natives.panicForTest(core);
    } catch (CoreException e) {
      panic = e.getMessage();
    }
    Natives.close(core);
    System.out.println(health);
    System.out.println(
        "version " + Natives.version() + " on " + System.getProperty("os.arch") + ", " + panic);
  }
}
